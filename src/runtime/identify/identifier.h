// Identification: a walk up the stack by constant distances, over the plan's decision trie
// (docs/plan-format.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "plan/plan_file.h"
#include "runtime/base/exported.h"
#include "runtime/identify/callers.h"
#include "runtime/identify/walk_end.h"

namespace halo::runtime {

// A state of the plan with its absolute return address.
//
// States are stored in pre-order, children in the plan's order. The first child of a state is
// the next one in memory, so the processor can prefetch along a walk without waiting for an index.
// State 0 is the root; its address equals no return address.
struct State {
  uintptr_t address;        // changes with its module's address: see Table
  uintptr_t child_address;  // is_plain: the first child's; else kNoAddress
  int32_t reach;            // is_plain: bytes from the caller's slot to the next; else 0
  int32_t step;
  int32_t map;  // start of its part of Table::maps: bytes from this state
  uint32_t parent : 24;
  uint32_t map_shift : 8;  // 32 − log2(size of its part of Table::maps); 0: no part
  CallerCode code;         // as in the callers table; kCodeForward while undecided
  int16_t rbp_below;
  plan::Rule rule;
  uint8_t restores_rbp : 1;
  uint8_t undecided : 1;
  uint8_t has_child : 1;

  // Undecided, with a child, entered and left by constant distances, at most as deep as a walk
  // reads, and without an rbp to restore.
  bool is_plain() const { return reach != 0; }
};
static_assert(sizeof(State) == 40 && plan::kMaxStates <= 1u << 24);

inline constexpr uintptr_t kNoAddress = ~uintptr_t{0};
// The address of states that must not match: neither an address nor a common stack value such as
// all ones.
inline constexpr uintptr_t kAbsentAddress = 0xA7C35E91D20B86F5;

constexpr State root_state() {
  State root{};
  root.address = kNoAddress;
  root.child_address = kNoAddress;
  root.undecided = 1;
  root.code = kCodeForward;
  return root;
}

struct EdgeEntry {
  uint32_t parent;
  uint32_t child;  // 0: empty
};

// The part of a state that depends on its module's address.
struct Placed {
  uint64_t offset;  // of its return address, in its module
  uint32_t state;
  CallerCode code;      // for a child of the root: its code in the callers table
  bool is_first_child;  // of a plain state, which stores this address as well
};

// A module's part of Table::placed: first the states whose parents are in the same module, then its
// entries. The last entries are callers that are decided immediately; only the callers table has
// their addresses.
struct ModuleStates {
  uint32_t begin, entries, decided, end;
  uintptr_t bias;  // of the addresses before `entries`; kNoAddress: none are set
  bool is_placed;  // the module is placed at `bias`
};

struct Verdict {
  uint16_t group;  // or plan::kVerdictForward
  uint16_t alignment;
  uint32_t steps = 0;  // return addresses read beyond the caller's
};

inline constexpr Verdict kForwardVerdict{plan::kVerdictForward, 0};

constexpr Verdict verdict_of(CallerCode code, uint32_t steps) {
  if (!is_decided(code)) return {plan::kVerdictForward, 0, steps};
  return {group_of(code), static_cast<uint16_t>((code & kCodeAlign16) != 0 ? 16 : 0), steps};
}

// The data that identification reads: one table for the life of the process.
//
// Concurrency: any thread reads it without a lock. One thread at a time, under the lock of
// modules.cc, changes the addresses and codes of states; nothing else changes. They are stored with
// release and read as whole words; x86-64 keeps loads in order.
//
// Hashes use only an address's offset in its page. Moving a module keeps that, so a state keeps its
// place in `maps` and `edges`.
//
// A reader finds a module's states only through its entries: by a word of the callers table, or by
// a step from a state of another module. A module is removed by setting its entries to
// kAbsentAddress, and placed by writing the inner addresses first and the entries last. A
// concurrent walk compares a return address with the old address, the new one or kAbsentAddress. If
// it equals the old one, the frame existed when the walk began: a call of the module is active. It
// cannot equal the new one yet, since no code of the module has run there.
struct Table {
  // The state of each child of the root, in the plan's order.
  const uint32_t* root_children;
  uint32_t root_child_count;
  // For states with several children: offsets, in bytes from the state, of all children but the
  // first, by map_hash of their return address. The root has no map. A colliding child is found
  // through `edges` only.
  const int32_t* maps;
  const EdgeEntry* edges;  // open addressing, by edge_hash; all states but the root's children
  unsigned edge_shift;
  uint32_t edge_mask;
  State* states;
  size_t state_count;
  Placed* placed;
  ModuleStates* modules;
  uint32_t module_count;
};

// Maximum number of return addresses that a walk reads beyond the caller's.
inline constexpr uint32_t kMaxSteps = 255;

// The table in use; never null, and empty without a plan.
HALO_HIDDEN extern constinit const Table* current_table;

// The first states of walks: those of root_children, and the root for kCodeUnknown and
// kCodeForward.
HALO_HIDDEN extern constinit const State* root_states[kCodeUndecided];

// An address in the table that another thread may be changing; the word is read whole. An atomic
// load would cost an instruction more at each step: compilers do not fold it into the comparison.
// ThreadSanitizer's build defines the macro (CMakePresets.json).
[[gnu::always_inline]] inline uintptr_t address_now(const uintptr_t& address) {
#ifdef HALO_THREAD_SANITIZER
  return __atomic_load_n(&address, __ATOMIC_RELAXED);
#else
  return address;
#endif
}

inline uint64_t mix(uint64_t x) { return x * 0x9E3779B97F4A7C15ull; }

// Both hashes use only the low 12 bits of the address.
inline uint32_t map_hash(uintptr_t address, unsigned shift) {
  return (static_cast<uint32_t>(address) * 0x9E300000u) >> shift;
}
inline uint64_t edge_hash(uint32_t parent, uintptr_t address) {
  return mix((address & 0xFFF) ^ mix(parent));
}

inline const State* state_at(const State* from, int32_t bytes) {
  return reinterpret_cast<const State*>(reinterpret_cast<const char*>(from) + bytes);
}

// The next child of a plain walk if the map finds it, else null. If the walk ends here, it reads
// the caller's own return address again, which no child has.
[[gnu::always_inline]] inline const State* next_fast(const State* now, const uintptr_t* slot) {
  const auto* there = reinterpret_cast<const char*>(slot) + now->reach;
  if (reinterpret_cast<uintptr_t>(there) >= walk_end) [[unlikely]]
    return nullptr;
  const uintptr_t address = *reinterpret_cast<const uintptr_t*>(there);
  if (address_now(now->child_address) == address) [[likely]]
    return now + 1;
  if (now->map_shift == 0) return nullptr;
  const auto* map = reinterpret_cast<const int32_t*>(state_at(now, now->map));
  const State* child = state_at(now, map[map_hash(address, now->map_shift)]);
  return address_now(child->address) == address ? child : nullptr;
}

// The state that a walk reaches by constant distances and map look-ups; nearly always its last one.
// It starts at `now`, a child of the root whose return address is at `slot`.
[[gnu::always_inline]] inline const State* walk_fast(const State* now, const uintptr_t* slot) {
  while (const State* child = next_fast(now, slot)) now = child;
  return now;
}

// Continues the walk from `state`, a child of the root whose return address is at `slot`; `rbp` is
// the register's value at the call. It reads only the stack above `slot`, at distances that the
// plan has proved.
Verdict identify(const Table& table, uint32_t state, const uintptr_t* slot, uintptr_t rbp);

// As identify, from the code that find_caller returned for the return address at `slot`.
inline Verdict identify_caller(const Table& table, CallerCode code, const uintptr_t* slot,
                               uintptr_t rbp) {
  if (is_decided(code)) return verdict_of(code, 0);
  const uint32_t child = root_child_of(code);
  if (child >= table.root_child_count) return kForwardVerdict;
  // The module may have moved since the code was read.
  const uint32_t state = table.root_children[child];
  if (address_now(table.states[state].address) != *slot) return kForwardVerdict;
  return identify(table, state, slot, rbp);
}

// Publishes the table. Called once.
void use_table(const Table* table);

// The number of bytes that make_table needs, and the table built in zeroed memory of that size; no
// module is placed yet.
size_t table_bytes(size_t states, size_t modules);
Table* make_table(std::span<const plan::State> states, size_t modules, void* memory);

// Makes the module's states and callers visible. `bias` is a multiple of 4096, and the module must
// not be placed. One thread at a time may call this and the next three functions.
void place_module(Table& table, uint32_t module, uintptr_t bias);

// Makes them invisible; may be repeated.
void remove_module(Table& table, uint32_t module);

// Aligns later blocks of all groups to 16 bytes. `silent`: the module of silence_callers.
void align_states_to_16(Table& table, uint32_t silent);

// Forwards the allocations of this module, which must be placed, or ends that.
void silence_callers(Table& table, uint32_t module, bool silent);

}  // namespace halo::runtime
