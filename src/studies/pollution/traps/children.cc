// Children of fork: they are given the content of pages that are away.
#include "studies/pollution/traps/page_requests.h"
#include "studies/pollution/traps/traps.h"

namespace halo::traps {

void Traps::adopt(const Events& events, uint32_t count) {
  for (uint32_t at = 0; at < count; ++at)
    if (events[at].event == UFFD_EVENT_FORK)
      children_.push_back(static_cast<int>(events[at].arg.fork.ufd));
}

// Gives all children the content of the armed pages. A child that forks meanwhile has children of
// its own. When a child's file is closed, its addresses are no longer registered.
void Traps::fill_children() {
  while (!children_.empty()) {
    const int child = children_.back();
    children_.pop_back();
    for (uint32_t slot = 0; slot < capacity_; ++slot)
      if (pages_[slot] != 0) fill(child, pages_[slot], slot_of(slot));
    if (bell_is_armed_) fill(child, bell_, slot_of(capacity_));
    for (size_t page = 0; page < away_.count; ++page)
      if (const uintptr_t at = away_.at + page * kPageBytes; has_page(at))
        fill(child, away_.page + page * kPageBytes, at);
    close_file(child);
  }
}

void Traps::fill(int child, uintptr_t page, uintptr_t from) {
  for (;;) {
    const long answer = copy_page(child, page, from);
    if (is_settled(answer)) return;
    if (answer != -EAGAIN) pause_thread(kRetryNs);
    Events events;
    const uint32_t count = read_events(child, events);
    adopt(events, count);
    for (uint32_t at = 0; at < count; ++at)
      if (events[at].event == UFFD_EVENT_PAGEFAULT)
        wake(child, page_at(events[at].arg.pagefault.address));
  }
}

}  // namespace halo::traps
