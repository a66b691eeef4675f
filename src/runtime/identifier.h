// Which group an allocation belongs to: a walk up the stack by constant distances, over the plan's
// decision trie (docs/plan-format.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "plan/plan_file.h"

namespace halo::runtime {

// A plan's state with its return address made absolute. Its children are chained in the plan's
// order: comparing with the likeliest first lets the processor run ahead of the walk.
struct State {
  std::uintptr_t address;  // 0: its module is not loaded
  std::int32_t step;
  plan::Rule rule;
  std::uint8_t flags;
  std::int16_t rbp_below;
  std::uint32_t parent;
  std::uint32_t first_child;   // 0: none
  std::uint32_t next_sibling;  // 0: none
  std::uint16_t verdict;
  std::uint16_t alignment;
};
static_assert(sizeof(State) == 32);

struct RootEntry {
  std::uintptr_t address;  // 0: empty
  std::uint32_t state;
  std::uint16_t verdict;  // the state's
  std::uint16_t alignment;
};

struct EdgeEntry {
  std::uintptr_t address;  // 0: empty
  std::uint32_t parent;
  std::uint32_t child;
};

struct Verdict {
  std::uint16_t group;  // or plan::verdict_forward
  std::uint16_t alignment;
};

// Everything a walk reads; immutable once published.
struct Table {
  const RootEntry* roots;  // open addressing, by return address, children of state 0
  unsigned root_shift;     // 64 − log2(size)
  std::uint32_t root_mask;
  const EdgeEntry* edges;  // open addressing, by (parent, return address), the other states
  unsigned edge_shift;
  std::uint32_t edge_mask;
  const State* states;
  std::size_t state_count;
};

// Where each of the plan's modules is loaded; `present` false where it is not.
struct ModulePlace {
  std::uintptr_t bias;
  bool present;
};

// The table that malloc consults; never null, and empty when there is no plan.
extern constinit const Table* current_table;

inline std::uint64_t mix(std::uint64_t x) { return x * 0x9E3779B97F4A7C15ull; }

// A bit set for every caller in any table published so far: the one thing that an allocation
// outside the plan touches. A false positive costs a probe; bits are never cleared.
inline constexpr unsigned filter_bits = 8192;
extern constinit std::uint64_t caller_filter[filter_bits / 64];

inline unsigned filter_hash(std::uintptr_t address) {
  return static_cast<unsigned>(address ^ (address >> 13)) % filter_bits;
}

// False: the caller is in no plan.
inline bool may_be_planned(std::uintptr_t caller) {
  const unsigned bit = filter_hash(caller);
  return (caller_filter[bit / 64] >> (bit % 64) & 1) != 0;
}

// The same for a return address as the compiler hands it out.
inline bool planned(const void* return_address) {
  return may_be_planned(reinterpret_cast<std::uintptr_t>(return_address));
}

// The entry of the root's child for this caller, or nullptr: the caller is in no plan.
inline const RootEntry* probe_root(const Table& table, std::uintptr_t caller) {
  std::uint64_t at = mix(caller) >> table.root_shift;
  for (;; ++at) {
    const RootEntry& entry = table.roots[at & table.root_mask];
    if (entry.address == caller) return &entry;
    if (entry.address == 0) return nullptr;
  }
}

// Walks on from `state`, the root's child for the return address at `slot`; `rbp` is the register's
// value at the call. Reads the stack above `slot` only, by rules known to hold there.
Verdict identify(const Table& table, std::uint32_t state, const std::uintptr_t* slot,
                 std::uintptr_t rbp);

// Bytes that make_table needs, and the table made in zeroed memory of that many bytes.
std::size_t table_bytes(std::size_t states);
const Table* make_table(std::span<const plan::State> states, std::span<const ModulePlace> places,
                        void* memory);

}  // namespace halo::runtime
