// Which group an allocation belongs to: a walk up the stack by constant distances, over the plan's
// decision trie (docs/plan-format.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "plan/plan_file.h"
#include "runtime/callers.h"
#include "runtime/exported.h"
#include "runtime/walk_end.h"

namespace halo::runtime {

// A plan's state with its return address made absolute. States lie in pre-order, children in the
// plan's order: a state's first child is the next in memory, so the processor can run ahead of the
// walk without waiting for an index. States of modules that are not loaded are left out. State 0,
// the root, has an address that no return address has.
struct State {
  std::uintptr_t address;
  std::uintptr_t child_address;  // with is_plain, the first child's; else no_address
  std::int32_t reach;            // with is_plain, bytes from the caller's slot to the next; else 0
  std::int32_t step;
  std::int32_t map;  // where its part of Table::maps begins: bytes from this state
  std::uint32_t parent : 24;
  std::uint32_t map_shift : 8;  // 32 − log2(the size of its part of Table::maps); 0: there is none
  CallerCode code;              // the same as a caller's; code_forward while undecided
  std::int16_t rbp_below;
  plan::Rule rule;
  std::uint8_t restores_rbp : 1;
  std::uint8_t undecided : 1;
  std::uint8_t has_child : 1;

  // Undecided, with a child, and reached as it is left by constant distances, of no more frames
  // than a walk may read, with no rbp to restore on the way.
  bool is_plain() const { return reach != 0; }
};
static_assert(sizeof(State) == 40 && plan::max_states <= 1u << 24);

inline constexpr std::uintptr_t no_address = ~std::uintptr_t{0};

constexpr State root_state() {
  State root{};
  root.address = no_address;
  root.child_address = no_address;
  root.undecided = 1;
  root.code = code_forward;
  return root;
}

struct EdgeEntry {
  std::uintptr_t address;  // 0: empty
  std::uint32_t parent;
  std::uint32_t child;
};

struct Verdict {
  std::uint16_t group;  // or plan::verdict_forward
  std::uint16_t alignment;
  std::uint32_t steps = 0;  // return addresses looked at beyond the caller's
};

inline constexpr Verdict forward_verdict{plan::verdict_forward, 0};

constexpr Verdict verdict_of(CallerCode code, std::uint32_t steps) {
  if (!is_decided(code)) return {plan::verdict_forward, 0, steps};
  return {group_of(code), static_cast<std::uint16_t>((code & code_align16) != 0 ? 16 : 0), steps};
}

// What identification reads; immutable once published.
struct Table {
  const Caller* callers;  // the children of the root that are loaded, ascending by address
  std::uint32_t caller_count;
  // The state of each child of the root, in the plan's order; 0 where it is not loaded.
  const std::uint32_t* root_children;
  std::uint32_t root_child_count;
  // For each state with more than one child: children after the first, by map_hash of their return
  // address, as bytes from that state; the root: none. Some may have found their place taken.
  const std::int32_t* maps;
  const EdgeEntry* edges;  // open addressing, by (parent, return address), the other states
  unsigned edge_shift;
  std::uint32_t edge_mask;
  const State* states;
  std::size_t state_count;
};

// Return addresses that a walk reads at most, beyond the caller's.
inline constexpr std::uint32_t most_steps = 255;

// Where each of the plan's modules is loaded; `present` false where it is not.
struct ModulePlace {
  std::uintptr_t bias;
  bool present;
};

// The table that walks read; never null, and empty when there is no plan.
HALO_HIDDEN extern constinit const Table* current_table;

// Where walks begin: the states of its root_children, and the root for code_unknown and
// code_forward. Other places may still have those of an earlier table, which stays in memory.
HALO_HIDDEN extern constinit const State* root_states[code_undecided];

inline std::uint64_t mix(std::uint64_t x) { return x * 0x9E3779B97F4A7C15ull; }

inline std::uint32_t map_hash(std::uintptr_t address, unsigned shift) {
  return (static_cast<std::uint32_t>(address) * 0x9E3779B1u) >> shift;
}

inline const State* state_at(const State* from, std::int32_t bytes) {
  return reinterpret_cast<const State*>(reinterpret_cast<const char*>(from) + bytes);
}

// The child that comes next on a plain walk, if it is found at once; else null. Where no walk goes
// on, the caller's own return address is read, which is no child's.
[[gnu::always_inline]] inline const State* next_plainly(const State* now,
                                                        const std::uintptr_t* slot) {
  const auto* there = reinterpret_cast<const char*>(slot) + now->reach;
  if (reinterpret_cast<std::uintptr_t>(there) >= walk_end) [[unlikely]]
    return nullptr;
  const std::uintptr_t address = *reinterpret_cast<const std::uintptr_t*>(there);
  if (now->child_address == address) [[likely]]
    return now + 1;
  if (now->map_shift == 0) return nullptr;
  const auto* map = reinterpret_cast<const std::int32_t*>(state_at(now, now->map));
  const State* child = state_at(now, map[map_hash(address, now->map_shift)]);
  return child->address == address ? child : nullptr;
}

// The state that the walk from `now`, a child of the root whose return address lies at `slot`,
// comes to by constant distances and children that are found at once: nearly always its end.
[[gnu::always_inline]] inline const State* walk_plainly(const State* now,
                                                        const std::uintptr_t* slot) {
  while (const State* child = next_plainly(now, slot)) now = child;
  return now;
}

// Walks on from `state`, a child of the root whose return address lies at `slot`; `rbp` is the
// register's value at the call. Reads the stack above `slot` only, by rules known to hold there.
Verdict identify(const Table& table, std::uint32_t state, const std::uintptr_t* slot,
                 std::uintptr_t rbp);

// The same, from the code that find_caller gave for the return address at `slot`.
inline Verdict identify_caller(const Table& table, CallerCode code, const std::uintptr_t* slot,
                               std::uintptr_t rbp) {
  if (is_decided(code)) return verdict_of(code, 0);
  const std::uint32_t child = root_child_of(code);
  if (child >= table.root_child_count) return forward_verdict;
  // The module may have moved since the code was read.
  const std::uint32_t state = table.root_children[child];
  if (state == 0 || table.states[state].address != *slot) return forward_verdict;
  return identify(table, state, slot, rbp);
}

// Makes this table the one that identification reads: its callers too.
void use_table(const Table* table);

// Bytes that make_table needs, and the table made in zeroed memory of that many bytes.
std::size_t table_bytes(std::size_t states);
const Table* make_table(std::span<const plan::State> states, std::span<const ModulePlace> places,
                        void* memory);

}  // namespace halo::runtime
