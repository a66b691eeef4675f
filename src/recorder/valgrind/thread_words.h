// The words that translated code shares with the tool.
#pragma once

#include <cstdint>

#include "recorder/valgrind/api.h"

namespace halo::valgrind {

// Maximum number of accesses of a superblock before they are collected.
inline constexpr int kMaxAccesses = 200;

// They are in the shadow areas of each thread's registers, which the core keeps beside them and
// this tool does not use otherwise.
struct ThreadWords {
  uint64_t collect_at;  // accesses are collected if the core's counter is at most this
  uint64_t pending;     // end of the thread's pending calls (pending_calls.h)
  // The name of the accesses below (access_lists.h); 0: none. Undefined while no burst is recorded.
  uint64_t accesses;
  uint64_t addresses[kMaxAccesses];

  static constexpr uint64_t kSmallBytes = 3 * sizeof(uint64_t);  // without the addresses
};

// Behind the registers; the first word of the area is not used.
inline int offset_of_words(int register_bytes) { return register_bytes + 16; }
// The two shadow areas are adjacent, each as large as the registers.
inline bool fits(int register_bytes) { return 16 + sizeof(ThreadWords) <= 2u * register_bytes; }

inline void set_thread_words(ThreadId thread, const ThreadWords& words) {
  VG_(set_shadow_regs_area)(thread, 1, 16, ThreadWords::kSmallBytes,
                            reinterpret_cast<const UChar*>(&words));
}

// Copies both areas, which are adjacent.
inline void get_all_thread_words(ThreadId thread, ThreadWords& words, int words_offset) {
  const int register_bytes = words_offset - offset_of_words(0);
  auto* to = reinterpret_cast<UChar*>(&words);
  const int first = register_bytes - 16;
  VG_(get_shadow_regs_area)(thread, to, 1, 16, first);
  VG_(get_shadow_regs_area)(thread, to + first, 2, 0, int(sizeof words) - first);
}

// Without the addresses.
inline void get_thread_words(ThreadId thread, ThreadWords& words) {
  VG_(get_shadow_regs_area)(thread, reinterpret_cast<UChar*>(&words), 1, 16,
                            ThreadWords::kSmallBytes);
}

}  // namespace halo::valgrind
