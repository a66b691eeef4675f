// A change in one instruction, so that whatever a signal handler does on the same thread comes
// before it or after it. Not atomic towards other threads, and a fraction of the price.
#pragma once

#include <cstdint>

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

// Subtracts from `place`; true where the result is less than zero, and wraps.
inline bool subtract_at_once(std::uint64_t& place, std::uint64_t bytes) {
  bool wrapped;
  asm volatile("sub %[bytes], %[place]"
               : "=@ccb"(wrapped), [place] "+m"(place)
               : [bytes] "r"(bytes)
               : "memory");
  return wrapped;
}

// What stands before it is stored before what stands behind it, as a signal handler sees it.
inline void in_this_order() { asm volatile("" ::: "memory"); }

}  // namespace halo::runtime
