// A change in one instruction, so that whatever a signal handler does on the same thread comes
// before it or after it. Not atomic towards other threads, and a fraction of the price.
#pragma once

namespace halo::runtime {

// Replaces `expected` by `desired`; false where `place` holds something else by now.
inline bool replace_at_once(char*& place, char* expected, char* desired) {
  bool done;
  asm volatile("cmpxchg %[desired], %[place]"
               : "=@ccz"(done), [place] "+m"(place), "+a"(expected)
               : [desired] "r"(desired)
               : "memory");
  return done;
}

// What stands before it is stored before what stands behind it, as a signal handler sees it.
inline void in_this_order() { asm volatile("" ::: "memory"); }

}  // namespace halo::runtime
