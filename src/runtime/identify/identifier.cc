// The general walk.
#include "runtime/identify/identifier.h"

namespace halo::runtime {
namespace {

constinit State no_states[1] = {root_state()};
constexpr EdgeEntry kNoEdges[2] = {};
constinit const Table kEmptyTable{nullptr,   0, nullptr, kNoEdges, 63, 1,
                                  no_states, 1, nullptr, nullptr,  0};

constexpr uintptr_t kMaxFrame =
    plan::kMaxStep;  // bytes; a more distant frame pointer is not trusted

uint32_t probe_edge(const Table& table, uint32_t parent, uintptr_t address) {
  uint64_t at = edge_hash(parent, address) >> table.edge_shift;
  for (;; ++at) {
    const EdgeEntry& entry = table.edges[at & table.edge_mask];
    if (entry.child == 0) return 0;
    if (entry.parent == parent && address_now(table.states[entry.child].address) == address)
      return entry.child;
  }
}

// The child of `state` for this return address, or 0.
uint32_t find_child(const Table& table, uint32_t state, uintptr_t address) {
  if (!table.states[state].has_child) return 0;
  return address_now(table.states[state + 1].address) == address
             ? state + 1
             : probe_edge(table, state, address);
}

// The state on the path to `state` with this return address, or 0: detects recursion.
uint32_t find_on_path(const Table& table, uint32_t state, uintptr_t address) {
  while (state != 0 && address_now(table.states[state].address) != address)
    state = table.states[state].parent;
  return state;
}

// Moves to the slot of the next return address, below `end`. Returns false if the walk ends.
bool advance(const State& from, uintptr_t end, const uintptr_t*& slot, uintptr_t& rbp) {
  const auto here = reinterpret_cast<uintptr_t>(slot);
  uintptr_t there;
  if (from.rule == plan::Rule::kConstant) {
    there = here + static_cast<uintptr_t>(intptr_t{from.step});
  } else if (from.rule == plan::Rule::kFramePointer) {
    there = rbp + static_cast<uintptr_t>(intptr_t{from.step});
    if (there - here - 8 > kMaxFrame || there % 8 != 0) return false;
  } else {
    return false;
  }
  if (there >= end) return false;
  if (from.restores_rbp) {
    const uintptr_t saved = there - static_cast<uintptr_t>(from.rbp_below);
    if (saved < here) return false;  // not in this frame
    rbp = *reinterpret_cast<const uintptr_t*>(saved);
  }
  slot = reinterpret_cast<const uintptr_t*>(there);
  return true;
}

// The walk from `state`, whose return address is at `slot`, by all rules of the plan.
Verdict walk_on(const Table& table, uint32_t state, const uintptr_t* slot, uintptr_t rbp,
                uint32_t steps) {
  const State* states = table.states;
  const uintptr_t end = find_walk_end(slot);
  uint32_t last = state;
  for (;; ++steps) {
    const State& now = states[state];
    if (!now.undecided) return verdict_of(now.code, steps);
    if (steps == kMaxSteps || !advance(states[last], end, slot, rbp)) break;
    const uintptr_t address = *slot;
    if (const uint32_t child = find_child(table, state, address)) {
      state = last = child;
    } else {
      last = find_on_path(table, state, address);
      if (last == 0) break;
    }
  }
  return verdict_of(kCodeForward, steps);
}

}  // namespace

constinit const Table* current_table = &kEmptyTable;
constinit const State* root_states[kCodeUndecided]{};

void use_table(const Table* table) {
  __atomic_store_n(&current_table, table, __ATOMIC_RELEASE);
  for (uint32_t i = 0; i < table->root_child_count && i < kMaxRootChildren; ++i)
    __atomic_store_n(&root_states[i], &table->states[table->root_children[i]], __ATOMIC_RELEASE);
  for (const CallerCode code : {kCodeUnknown, kCodeForward})
    __atomic_store_n(&root_states[root_child_of(code)], table->states, __ATOMIC_RELEASE);
}

Verdict identify(const Table& table, uint32_t state, const uintptr_t* slot, uintptr_t rbp) {
  const State* from = &table.states[state];
  const State* at = walk_fast(from, slot);
  uint32_t steps = 0;
  for (const State* now = at; now != from; now = &table.states[now->parent]) ++steps;
  if (!at->undecided) return verdict_of(at->code, steps);
  const char* here = reinterpret_cast<const char*>(slot);
  if (at != from) here += table.states[at->parent].reach;
  return walk_on(table, static_cast<uint32_t>(at - table.states),
                 reinterpret_cast<const uintptr_t*>(here), rbp, steps);
}

}  // namespace halo::runtime
