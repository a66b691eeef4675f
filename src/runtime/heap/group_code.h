// A caller's code: 16 bits with the group of its allocations.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/format.h"

namespace halo::runtime {

// Either the group (times eight) and whether its blocks need 16 bytes of alignment; or, if more
// frames must be read, the child of the trie's root; or that the caller is forwarded.
using CallerCode = uint16_t;

inline constexpr CallerCode kCodeUndecided = 0x8000;
inline constexpr CallerCode kCodeGroup = 0x7FF8;
inline constexpr CallerCode kCodeAlign16 = 1;
inline constexpr CallerCode kCodeForward = 0xFFFF;
inline constexpr CallerCode kCodeUnknown = 0xFFFE;  // not looked up yet
inline constexpr uint32_t kMaxRootChildren = 0x7FFE;
static_assert(plan::kMaxGroups - 1 <= kCodeGroup / 8);

// Whether the blocks of a group are in mixed-size pages.
constexpr bool is_mixed(const plan::Group& settings) {
  return (settings.flags & plan::kGroupBySize) == 0;
}

constexpr CallerCode decided_code(uint16_t group, bool align16) {
  return static_cast<CallerCode>(group * 8 | (align16 ? kCodeAlign16 : 0));
}
constexpr bool is_decided(CallerCode code) { return (code & kCodeUndecided) == 0; }
constexpr uint16_t group_of(CallerCode code) { return (code & kCodeGroup) / 8; }
// The bit that rounds a number of granules, less one, up to a pair if the code requires 16 bytes of
// alignment.
constexpr size_t align_bit(CallerCode code) { return code & kCodeAlign16; }
static_assert(kCodeAlign16 == 1);
constexpr uint16_t root_child_of(CallerCode code) { return code & (kCodeUndecided - 1); }

}  // namespace halo::runtime
