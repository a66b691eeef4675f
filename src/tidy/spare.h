// The block that a rule for hints keeps, so that an allocation cannot fail once it has begun.
#pragma once

#include "base/single_threaded.h"

namespace halo::tidy {

// Replaces the spare block, and returns the one before; nullptr: none. A block that is taken
// belongs to the taker alone. Any thread; also a signal handler that interrupts it, as the exchange
// is one instruction. It is locked only if there are other threads.
inline void* exchange_spare(void** spare, void* with) {
  if (!is_single_threaded()) return __atomic_exchange_n(spare, with, __ATOMIC_ACQ_REL);
  void* found = __atomic_load_n(spare, __ATOMIC_RELAXED);
  for (;;) {
    bool is_done;
    asm volatile("cmpxchg %3, %1"
                 : "=@ccz"(is_done), "+m"(*spare), "+a"(found)
                 : "r"(with)
                 : "memory");
    if (is_done) return found;
  }
}

}  // namespace halo::tidy
