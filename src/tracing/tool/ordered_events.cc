// The queues of the threads.
#include "tracing/tool/ordered_events.h"

namespace halo::trace_tool {

void EventQueue::put(std::span<const trace::Logged> events) {
  events_.erase(events_.begin(), events_.begin() + int64_t(released_ - first_));
  first_ = released_;
  events_.insert(events_.end(), events.begin(), events.end());
}

void OrderedEvents::put(uint32_t thread, std::span<const trace::Logged> events) {
  std::unique_ptr<Thread>& one = threads_[thread];
  if (one == nullptr) {
    one = std::make_unique<Thread>();
    one->source.thread = base::ThreadId{thread};
    one->source.ring = &one->queue;
  }
  one->queue.put(events);
}

}  // namespace halo::trace_tool
