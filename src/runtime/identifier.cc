// The walk, and the tables it reads.
#include "runtime/identifier.h"

#include <bit>

namespace halo::runtime {
namespace {

constexpr RootEntry no_roots[2] = {};
constexpr EdgeEntry no_edges[2] = {};
constexpr State no_states[1] = {};
constexpr Verdict forward{plan::verdict_forward, 0};
constinit const Table empty_table{no_roots, 63, 1, no_edges, 63, 1, no_states, 0};

constexpr int max_steps = 256;
constexpr std::uintptr_t max_frame =
    plan::max_step;  // bytes; a frame pointer further off is not trusted

std::uint64_t edge_hash(std::uintptr_t address, std::uint32_t parent) {
  return mix(address ^ mix(parent));
}

std::uint32_t probe_edge(const Table& table, std::uint32_t parent, std::uintptr_t address) {
  std::uint64_t at = edge_hash(address, parent) >> table.edge_shift;
  for (;; ++at) {
    const EdgeEntry& entry = table.edges[at & table.edge_mask];
    if (entry.address == address && entry.parent == parent) return entry.child;
    if (entry.address == 0) return 0;
  }
}

// Children compared one by one; where there are more, the rest is looked up by hash.
constexpr int few_children = 8;

// The child of `state` for this return address, or 0.
std::uint32_t find_child(const Table& table, std::uint32_t state, std::uintptr_t address) {
  std::uint32_t child = table.states[state].first_child;
  for (int i = 0; i < few_children && child != 0; ++i) {
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
bool advance(const State& from, const std::uintptr_t*& slot, std::uintptr_t& rbp) {
  const auto here = reinterpret_cast<std::uintptr_t>(slot);
  std::uintptr_t there;
  if (from.rule == plan::Rule::constant) {
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

std::size_t slots_for(std::size_t entries) { return std::bit_ceil(entries * 2 + 2); }

}  // namespace

constinit const Table* current_table = &empty_table;
constinit std::uint64_t caller_filter[filter_bits / 64]{};

Verdict identify(const Table& table, std::uint32_t state, const std::uintptr_t* slot,
                 std::uintptr_t rbp) {
  std::uint32_t last = state;
  for (int step = 0; step < max_steps; ++step) {
    const State& now = table.states[state];
    if (now.verdict != plan::verdict_undecided) return {now.verdict, now.alignment};
    if (!advance(table.states[last], slot, rbp)) break;
    const std::uintptr_t address = *slot;
    if (const std::uint32_t child = find_child(table, state, address)) {
      state = last = child;
      continue;
    }
    last = find_on_path(table, state, address);
    if (last == 0) break;
  }
  return forward;
}

std::size_t table_bytes(std::size_t states) {
  return sizeof(Table) + states * sizeof(State) +
         slots_for(states) * (sizeof(RootEntry) + sizeof(EdgeEntry)) + 64;
}

const Table* make_table(std::span<const plan::State> states, std::span<const ModulePlace> places,
                        void* memory) {
  const std::size_t slots = slots_for(states.size());
  auto* table = static_cast<Table*>(memory);
  auto* made = reinterpret_cast<State*>(table + 1);
  auto* edges = reinterpret_cast<EdgeEntry*>(made + states.size());
  auto* roots = reinterpret_cast<RootEntry*>(edges + slots);

  std::size_t root_children = 0;
  for (std::size_t i = 1; i < states.size(); ++i) root_children += states[i].parent == 0 ? 1 : 0;
  // A small dense root table: every allocation of the program probes it.
  const std::size_t root_slots = slots_for(root_children * 2);

  table->roots = roots;
  table->root_mask = static_cast<std::uint32_t>((root_slots < slots ? root_slots : slots) - 1);
  table->root_shift = static_cast<unsigned>(64 - std::countr_one(table->root_mask));
  table->edges = edges;
  table->edge_mask = static_cast<std::uint32_t>(slots - 1);
  table->edge_shift = static_cast<unsigned>(64 - std::countr_one(table->edge_mask));
  table->states = made;
  table->state_count = states.size();

  for (std::uint32_t i = 0; i < states.size(); ++i) {
    const plan::State& from = states[i];
    const bool present = i != 0 && places[from.module].present;
    const std::uintptr_t address = present ? places[from.module].bias + from.offset : 0;
    made[i] = {address,     from.step, from.rule, from.flags,   from.rbp_below,
               from.parent, 0,         0,         from.verdict, from.alignment};
    if (address == 0) continue;
    if (from.parent == 0) {
      std::uint64_t at = mix(address) >> table->root_shift;
      while (roots[at & table->root_mask].address != 0) ++at;
      roots[at & table->root_mask] = {address, i, from.verdict, from.alignment};
      const unsigned bit = filter_hash(address);
      __atomic_fetch_or(&caller_filter[bit / 64], std::uint64_t{1} << (bit % 64), __ATOMIC_RELAXED);
    } else {
      std::uint64_t at = edge_hash(address, from.parent) >> table->edge_shift;
      while (edges[at & table->edge_mask].address != 0) ++at;
      edges[at & table->edge_mask] = {address, from.parent, i};
    }
  }
  // Backwards, so that each chain comes out in the plan's order.
  for (auto i = static_cast<std::uint32_t>(states.size()); i-- > 1;) {
    if (made[i].address == 0) continue;
    State& parent = made[made[i].parent];
    made[i].next_sibling = parent.first_child;
    parent.first_child = i;
  }
  return table;
}

}  // namespace halo::runtime
