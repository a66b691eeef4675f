// Reports the program's allocations, with their call stacks.
#include "recorder/wrappers/listener.h"

#include <pthread.h>

#include <algorithm>
#include <span>

#include "recorder/native/burst/bursts.h"
#include "recorder/native/engine.h"
#include "recorder/native/sampler.h"

namespace halo::native {

namespace {

using channel::StreamKind;
using events::Kind;
using events::Record;

void begin();

Record of_stream(StreamKind kind, uint64_t address, uint64_t word1 = 0) {
  return Record::of_stream(uint8_t(kind), address, word1);
}

// All frames of the thread's present stack but those that are known.
void send_stack(Thread& thread) {
  constexpr size_t kPart = channel::kStreamRecords / 4;
  StreamWriter& writer = thread.writer;
  size_t kept = thread.sent.common();
  for (std::span<const Frame> rest = thread.stack.frames().subspan(kept);;) {
    const std::span<const Frame> part = rest.first(std::min(rest.size(), kPart));
    writer.reserve(1 + part.size());
    writer.put(of_stream(StreamKind::kStack, kept, part.size()));
    for (const Frame& frame : part)
      writer.put(of_stream(StreamKind::kFrame, frame.slot, frame.return_address));
    writer.publish();
    kept += part.size();
    rest = rest.subspan(part.size());
    if (rest.empty()) break;
  }
  thread.sent.sent(kept);
}

// The wrappers begin with "push rbp": the caller's is below the return address.
uint64_t frame_at(uint64_t slot) { return reinterpret_cast<const uint64_t*>(slot)[-1]; }

void put_alloc(Thread& thread, Kind then, void* address, size_t size, uint64_t slot) {
  const Busy busy(thread);
  if (Bursts::is_active()) Sampler::flush(thread);
  const StackChange change = thread.stack.walk(engine.rows(), slot, frame_at(slot));
  StreamWriter& writer = thread.writer;
  if (uint64_t code = engine.rows().take_unknown(); code != 0) [[unlikely]] {
    writer.reserve(1);
    writer.put(of_stream(StreamKind::kNeedsCode, code));
    writer.publish();
    writer.drain();
  }
  const uint64_t hash = thread.stack.hash();
  if (thread.sent.add(change, hash)) send_stack(thread);
  writer.reserve(3);
  writer.mark_epoch();
  const uint64_t object = reinterpret_cast<uint64_t>(address);
  engine.mark_heap(object, size);
  writer.put(Record::make(Kind::kAlloc, object,
                          std::min<uint64_t>(size, channel::kMaxAllocation) |
                              SentStacks::place_of(hash) << channel::kPlaceShift));
  if (then != Kind::kAlloc) writer.put(Record::make(then, object, 0));
  writer.publish();
}

[[gnu::noinline]] void report_alloc(Kind then, void* address, size_t size, uint64_t slot) {
  Thread* thread = engine.enter();
  if (thread == nullptr) return;
  put_alloc(*thread, then, address, size, slot);
  if (thread->is_new) [[unlikely]] {
    thread->is_new = false;
    Sampler::begin_now();
  }
}

[[gnu::noinline]] void report(Kind kind, void* address) {
  Thread* thread = engine.enter();
  if (thread == nullptr) return;
  const Busy busy(*thread);
  if (Bursts::is_active()) Sampler::flush(*thread);
  thread->writer.reserve(1);
  const uint64_t object = reinterpret_cast<uint64_t>(address);
  thread->writer.put(Record::make(kind, object, thread->writer.epoch()));
  thread->writer.publish();
}

void alloc(void* address, size_t size, uint64_t slot) {
  if (engine.is_on()) report_alloc(Kind::kAlloc, address, size, slot);
}
void aligned(void* address, size_t size, uint64_t slot) {
  if (engine.is_on()) report_alloc(Kind::kAligned, address, size, slot);
}
void reallocated(void* address, size_t size, uint64_t slot) {
  if (engine.is_on()) report_alloc(Kind::kReallocated, address, size, slot);
}
void free_object(void* address) {
  if (engine.is_on()) report(Kind::kFree, address);
}
void revive(void* address) {
  if (engine.is_on()) report(Kind::kRevive, address);
}

void prepare_fork() { engine.before_fork(); }

void begin() {
  bursts.run_natively(alloc, aligned, reallocated, free_object, revive, prepare_fork);
  engine.begin();
}

// Late: it allocates.
__attribute__((constructor)) void watch_forks() {
  pthread_atfork(
      prepare_fork, [] { engine.after_fork_in_parent(); }, [] { engine.after_fork_in_child(); });
}

}  // namespace

}  // namespace halo::native

constinit const halo::interpose::Listener halo::interpose::kListener{
    .begin = native::begin,
    .alloc = native::alloc,
    .aligned = native::aligned,
    .reallocated = native::reallocated,
    .free = native::free_object,
    .revive = native::revive,
};
