// The walk.
#include "runtime/identifier.h"

namespace halo::runtime {
namespace {

constexpr State no_states[1] = {};
constexpr EdgeEntry no_edges[2] = {};
constinit const Table empty_table{nullptr, 0, nullptr, 0, no_edges, 63, 1, no_states, 1};

constexpr std::uint32_t max_steps = 256;
constexpr std::uintptr_t max_frame =
    plan::max_step;  // bytes; a frame pointer further off is not trusted

std::uint32_t probe_edge(const Table& table, std::uint32_t parent, std::uintptr_t address) {
  std::uint64_t at = mix(address ^ mix(parent)) >> table.edge_shift;
  for (;; ++at) {
    const EdgeEntry& entry = table.edges[at & table.edge_mask];
    if (entry.address == address && entry.parent == parent) return entry.child;
    if (entry.address == 0) return 0;
  }
}

// Children compared one by one; where there are more, the rest is looked up by hash.
constexpr int few_children = 8;

// The child of `state` for this return address after the first, or 0.
[[gnu::noinline]] std::uint32_t find_later_child(const Table& table, std::uint32_t state,
                                                 std::uintptr_t address) {
  std::uint32_t child = table.states[state + 1].next_sibling;
  for (int i = 1; i < few_children && child != 0; ++i) {
    if (table.states[child].address == address) return child;
    child = table.states[child].next_sibling;
  }
  return child == 0 ? 0 : probe_edge(table, state, address);
}

// The state on the path to `state` that has this return address, or 0: the recursion test.
std::uint32_t find_on_path(const Table& table, std::uint32_t state, std::uintptr_t address) {
  while (state != 0 && table.states[state].address != address) state = table.states[state].parent;
  return state;
}

// Moves to the next return address's slot; false where the walk ends.
inline bool advance(const State& from, const std::uintptr_t*& slot, std::uintptr_t& rbp) {
  const auto here = reinterpret_cast<std::uintptr_t>(slot);
  std::uintptr_t there;
  if (from.rule == plan::Rule::constant) [[likely]] {
    there = here + static_cast<std::uintptr_t>(std::intptr_t{from.step});
  } else if (from.rule == plan::Rule::frame_pointer) {
    there = rbp + static_cast<std::uintptr_t>(std::intptr_t{from.step});
    if (there - here - 8 > max_frame || there % 8 != 0) return false;
  } else {
    return false;
  }
  if ((from.flags & plan::state_restores_rbp) != 0)
    rbp = *reinterpret_cast<const std::uintptr_t*>(there -
                                                   static_cast<std::uintptr_t>(from.rbp_below));
  slot = reinterpret_cast<const std::uintptr_t*>(there);
  return true;
}

}  // namespace

constinit const Table* current_table = &empty_table;

void use_table(const Table* table) {
  // Codes of the old table's callers are checked against the new one (identify_caller).
  __atomic_store_n(&current_table, table, __ATOMIC_RELEASE);
  set_callers({table->callers, table->caller_count});
}

Verdict identify(const Table& table, std::uint32_t state, const std::uintptr_t* slot,
                 std::uintptr_t rbp) {
  const State* states = table.states;
  std::uint32_t last = state;
  std::uint32_t step = 0;
  for (; step < max_steps; ++step) {
    const State& now = states[state];
    if (now.verdict != plan::verdict_undecided) return {now.verdict, now.alignment, step};
    if (!advance(states[last], slot, rbp)) break;
    const std::uintptr_t address = *slot;
    if (now.has_child != 0) {
      if (states[state + 1].address == address) [[likely]] {
        last = ++state;
        continue;
      }
      if (const std::uint32_t child = find_later_child(table, state, address)) {
        state = last = child;
        continue;
      }
    }
    last = find_on_path(table, state, address);
    if (last == 0) break;
  }
  return {plan::verdict_forward, 0, step};
}

}  // namespace halo::runtime
