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
// walk without waiting for an index. State 0, the root, has an address that no return address has.
struct State {
  std::uintptr_t address;        // changes with its module's place: see Table
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
// Of states that are not to be found. No address, and nothing that a slot on the stack happens to
// hold, as all ones might be.
inline constexpr std::uintptr_t absent_address = 0xA7C35E91D20B86F5;

constexpr State root_state() {
  State root{};
  root.address = no_address;
  root.child_address = no_address;
  root.undecided = 1;
  root.code = code_forward;
  return root;
}

struct EdgeEntry {
  std::uint32_t parent;
  std::uint32_t child;  // 0: empty
};

// What of a state depends on where its module is loaded.
struct Placed {
  std::uint64_t offset;  // of its return address in its module
  std::uint32_t state;
  CallerCode code;      // of a child of the root, as the table of callers is to have it
  bool is_first_child;  // of a plain state, which has its address, too
};

// A module's part of Table::placed: its states whose parents are its own, then its entries, which
// are the others; the last of them are callers that are decided at once, whose addresses are in the
// table of callers alone.
struct ModuleStates {
  std::uint32_t begin, entries, decided, end;
  std::uintptr_t bias;  // what the addresses before `entries` were made with; no_address: with none
  bool is_placed;       // at `bias`
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

// What identification reads: one for the life of the process, in which the addresses alone change,
// under the eyes of readers. Hashes take an address's place in its page, which moving keeps, so a
// state stays where it is in `maps` and `edges`.
//
// A module's states are found through its entries only: by a word in the table of callers, or by a
// step from a state of another module. So it is removed by making its entries absent, and placed by
// writing the other addresses first and those of its entries last. Whoever walks meanwhile
// compares a return address with the old address, the new one or absent_address. If it equals the
// old one, the walk goes on through frames that were there when it began: a call of the module
// under way. It cannot equal the new one yet, as no code of the module has run there.
struct Table {
  // The state of each child of the root, in the plan's order.
  const std::uint32_t* root_children;
  std::uint32_t root_child_count;
  // For each state with more than one child: children after the first, by map_hash of their return
  // address, as bytes from that state; the root: none. Some may have found their place taken.
  const std::int32_t* maps;
  const EdgeEntry* edges;  // open addressing, by edge_hash, all states but the root's children
  unsigned edge_shift;
  std::uint32_t edge_mask;
  State* states;
  std::size_t state_count;
  Placed* placed;
  ModuleStates* modules;
  std::uint32_t module_count;
};

// Return addresses that a walk reads at most, beyond the caller's.
inline constexpr std::uint32_t most_steps = 255;

// The table that walks read; never null, and empty when there is no plan.
HALO_HIDDEN extern constinit const Table* current_table;

// Where walks begin: the states of its root_children, and the root for code_unknown and
// code_forward.
HALO_HIDDEN extern constinit const State* root_states[code_undecided];

// An address in the table, which may be changing: a word, which is read as a whole. Not by an
// atomic load, which compilers keep apart from the comparison it is for: an instruction more at
// each step.
[[gnu::always_inline]] inline std::uintptr_t address_now(const std::uintptr_t& address) {
#ifdef __SANITIZE_THREAD__
  return __atomic_load_n(&address, __ATOMIC_RELAXED);
#else
  return address;
#endif
}

inline std::uint64_t mix(std::uint64_t x) { return x * 0x9E3779B97F4A7C15ull; }

// Both look at the low 12 bits of the address alone.
inline std::uint32_t map_hash(std::uintptr_t address, unsigned shift) {
  return (static_cast<std::uint32_t>(address) * 0x9E300000u) >> shift;
}
inline std::uint64_t edge_hash(std::uint32_t parent, std::uintptr_t address) {
  return mix((address & 0xFFF) ^ mix(parent));
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
  if (address_now(now->child_address) == address) [[likely]]
    return now + 1;
  if (now->map_shift == 0) return nullptr;
  const auto* map = reinterpret_cast<const std::int32_t*>(state_at(now, now->map));
  const State* child = state_at(now, map[map_hash(address, now->map_shift)]);
  return address_now(child->address) == address ? child : nullptr;
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
  if (address_now(table.states[state].address) != *slot) return forward_verdict;
  return identify(table, state, slot, rbp);
}

// Makes this table the one that identification reads. Once.
void use_table(const Table* table);

// Bytes that make_table needs, and the table made in zeroed memory of that many bytes, no module
// being placed.
std::size_t table_bytes(std::size_t states, std::size_t modules);
Table* make_table(std::span<const plan::State> states, std::size_t modules, void* memory);

// The module's states are found from now on, its callers too; `bias` is a multiple of 4096, and the
// module was not placed before. Of this and the next two, one thread at a time.
void place_module(Table& table, std::uint32_t module, std::uintptr_t bias);

// They are not found from now on; also where they were not.
void remove_module(Table& table, std::uint32_t module);

// Aligns the blocks of all groups to 16 bytes from now on. `silent`: the module of silence_callers.
void align_states_to_16(Table& table, std::uint32_t silent);

// Forwards what is allocated by this module, which is placed, or no longer does.
void silence_callers(Table& table, std::uint32_t module, bool silent);

}  // namespace halo::runtime
