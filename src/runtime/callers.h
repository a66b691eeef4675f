// Which callers are in the plan: the one thing that every allocation of the program looks at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "plan/format.h"
#include "runtime/exported.h"

namespace halo::runtime {

// What is known of a caller by its address alone: 16 bits. The group (times eight) and whether its
// blocks need 16 bytes of alignment; or, where more frames have to be looked at, which child of the
// trie's root it is; or that it is to be forwarded.
using CallerCode = std::uint16_t;

inline constexpr CallerCode code_undecided = 0x8000;
inline constexpr CallerCode code_group = 0x7FF8;
inline constexpr CallerCode code_align16 = 1;
inline constexpr CallerCode code_forward = 0xFFFF;
inline constexpr CallerCode code_unknown = 0xFFFE;  // not looked up to the end
inline constexpr std::uint32_t max_root_children = 0x7FFE;
static_assert(plan::max_groups - 1 <= code_group / 8);

constexpr CallerCode decided_code(std::uint16_t group, bool align16) {
  return static_cast<CallerCode>(group * 8 | (align16 ? code_align16 : 0));
}
constexpr bool is_decided(CallerCode code) { return (code & code_undecided) == 0; }
constexpr std::uint16_t group_of(CallerCode code) { return (code & code_group) / 8; }
// What a number of granules, less one, is rounded up to by: the last bit, if they come in pairs.
constexpr std::size_t align_bit(CallerCode code) { return code & code_align16; }
static_assert(code_align16 == 1);
constexpr std::uint16_t root_child_of(CallerCode code) { return code & (code_undecided - 1); }

inline constexpr unsigned caller_slots = 65536;

// Open addressing with linear probing. A word is (return address << 16) | code: user addresses have
// 47 bits. Written and read whole, so readers need no lock. The word of a caller that is gone keeps
// its place with code_forward, until another address takes it or nothing lies behind it.
HALO_HIDDEN extern constinit std::uint64_t caller_words[caller_slots];

// The low bits as they are: callers that lie together in the code do so in the table, too.
inline unsigned caller_hash(std::uintptr_t caller) {
  return static_cast<unsigned>(caller % caller_slots);
}

inline std::uint64_t caller_word_at(unsigned slot) {
  return __atomic_load_n(&caller_words[slot], __ATOMIC_RELAXED);
}

// False: the caller is in no plan. True may be a mere collision.
inline bool planned(const void* caller) {
  return caller_word_at(caller_hash(reinterpret_cast<std::uintptr_t>(caller))) != 0;
}

// The caller's code; code_forward where it is in no plan.
inline CallerCode find_caller(std::uintptr_t caller) {
  for (unsigned slot = caller_hash(caller);; slot = (slot + 1) % caller_slots) {
    const std::uint64_t word = caller_word_at(slot);
    if (word >> 16 == caller) return static_cast<CallerCode>(word);
    if (word == 0) return code_forward;
  }
}

struct Caller {
  std::uintptr_t address;
  CallerCode code;
};

// One thread at a time changes the table; any may read it meanwhile.

HALO_HIDDEN extern constinit unsigned used_caller_slots;  // that are not empty
// So that probing always meets an empty slot.
inline constexpr unsigned max_used_caller_slots = caller_slots / 4 * 3;

constexpr std::uint64_t word_of(const Caller& caller) {
  return (std::uint64_t{caller.address} << 16) | caller.code;
}
inline void write_caller_word(unsigned slot, std::uint64_t word) {
  __atomic_store_n(&caller_words[slot], word, __ATOMIC_RELEASE);
}

// What add_caller and remove_caller do where other callers are in the way.
void add_among_others(const Caller& caller);
void remove_among_others(std::uintptr_t address);

// From now on this is the caller's code; code_forward keeps its place for it. Where the table is
// full, it stays forwarded.
inline void add_caller(const Caller& caller) {
  const unsigned slot = caller_hash(caller.address);
  if (caller_word_at(slot) != 0 || used_caller_slots == max_used_caller_slots)
    return add_among_others(caller);
  ++used_caller_slots;
  write_caller_word(slot, word_of(caller));
}

// Forwards the caller from now on.
inline void remove_caller(std::uintptr_t address) {
  const unsigned slot = caller_hash(address);
  const bool is_alone = caller_word_at(slot) >> 16 == address &&
                        caller_word_at((slot + 1) % caller_slots) == 0 &&
                        caller_word_at((slot - 1) % caller_slots) == 0;
  if (!is_alone) return remove_among_others(address);
  --used_caller_slots;
  write_caller_word(slot, 0);
}

}  // namespace halo::runtime
