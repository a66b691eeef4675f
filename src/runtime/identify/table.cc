// Builds the table of states from a plan.
#include <algorithm>
#include <bit>
#include <cstdint>

#include "runtime/base/diagnosis.h"
#include "runtime/code/alignment.h"
#include "runtime/identify/identifier.h"

namespace halo::runtime {
namespace {

size_t slots_for(size_t entries) { return std::bit_ceil(entries * 2 + 2); }

// Scratch memory per state of the plan while the table is built: the lists of children.
struct Links {
  uint32_t first_child;   // a state of the plan; 0: none
  uint32_t next_sibling;  // likewise
  uint32_t made;          // its index in the table
  uint32_t depth;         // number of return addresses on its path
};

struct Parts {
  Table* table;
  State* states;
  EdgeEntry* edges;
  uint32_t* root_children;
  int32_t* maps;
  Placed* placed;
  Links* links;
};

// Links the children of each state in the plan's order.
void link_children(std::span<const plan::State> states, Links* links) {
  for (auto i = static_cast<uint32_t>(states.size()); i-- > 1;) {
    links[i].next_sibling = links[states[i].parent].first_child;
    links[states[i].parent].first_child = i;
  }
}

// If a damaged plan has equal children, the first is found.
void add_edge(const Parts& parts, uint64_t offset, uint32_t parent, uint32_t child) {
  const Table& table = *parts.table;
  uint64_t at = edge_hash(parent, offset) >> table.edge_shift;
  while (parts.edges[at & table.edge_mask].child != 0) ++at;
  parts.edges[at & table.edge_mask] = {parent, child};
}

// Alignments above malloc's own 16 bytes are left to the next allocator.
CallerCode code_of(const plan::State& state) {
  if (state.verdict >= plan::kVerdictForward || state.alignment > 16) return kCodeForward;
  return decided_code(state.verdict, state.alignment == 16 || aligns_all_to_16());
}

// The distance from the caller's slot to the slot behind a state with children; 0 if the path to it
// is not plain.
int32_t reach_of(const plan::State& from, uint32_t depth, const State& parent) {
  static_assert(int64_t{kMaxSteps} * plan::kMaxStep < INT32_MAX);
  const bool is_plain = from.verdict == plan::kVerdictUndecided &&
                        from.rule == plan::Rule::kConstant &&
                        (from.flags & plan::kStateRestoresRbp) == 0 && depth <= kMaxSteps &&
                        (depth == 1 || parent.is_plain());
  return is_plain ? parent.reach + from.step : 0;
}

// Appends a copy of one state to the table.
void add_state(const Parts& parts, const plan::State& from, uint32_t plan_index) {
  const auto at = static_cast<uint32_t>(parts.table->state_count++);
  const uint32_t parent = parts.links[from.parent].made;
  const uint32_t depth = parts.links[from.parent].depth + 1;
  parts.links[plan_index].made = at;
  parts.links[plan_index].depth = depth;
  const bool has_child = parts.links[plan_index].first_child != 0;
  State& state = parts.states[at];
  state.address = kAbsentAddress;
  state.step = from.step;
  state.reach = has_child ? reach_of(from, depth, parts.states[parent]) : 0;
  state.child_address = state.is_plain() ? kAbsentAddress : kNoAddress;
  state.parent = parent & 0xFFFFFF;
  state.code = code_of(from);
  state.rbp_below = from.rbp_below;
  state.rule = from.rule;
  state.restores_rbp = (from.flags & plan::kStateRestoresRbp) != 0;
  state.undecided = from.verdict == plan::kVerdictUndecided;
  state.has_child = has_child;
  if (parent != 0) add_edge(parts, from.offset, parent, at);
}

// Iterates in pre-order without recursion: the first child, else the next sibling of the nearest
// ancestor that has one.
void add_states(const Parts& parts, std::span<const plan::State> states) {
  uint32_t i = parts.links[0].first_child;
  while (i != 0) {
    add_state(parts, states[i], i);
    if (parts.links[i].first_child != 0) {
      i = parts.links[i].first_child;
      continue;
    }
    while (i != 0 && parts.links[i].next_sibling == 0) i = states[i].parent;
    if (i == 0) break;
    i = parts.links[i].next_sibling;
  }
}

// The states and maps of the largest plan take 1 GiB, so the distance fits.
int32_t bytes_from(const State& state, const void* to) {
  return static_cast<int32_t>(static_cast<const char*>(to) - reinterpret_cast<const char*>(&state));
}

// Number of map slots for that many children after the first.
size_t map_slots(size_t children) { return std::bit_ceil(children * 4); }

// Fills the maps. Children are in order of likelihood, so the likelier one of a collision keeps its
// slot.
void add_maps(const Parts& parts, std::span<const plan::State> states) {
  uint32_t used = 0;
  for (size_t i = 1; i < states.size(); ++i) {
    const uint32_t first = parts.links[i].first_child;
    const uint32_t second = first == 0 ? 0 : parts.links[first].next_sibling;
    if (second == 0 || !parts.states[parts.links[i].made].is_plain()) continue;
    size_t children = 0;
    for (uint32_t c = second; c != 0; c = parts.links[c].next_sibling) ++children;
    State& state = parts.states[parts.links[i].made];
    int32_t* map = parts.maps + used;
    state.map = bytes_from(state, map);
    state.map_shift = (32u - static_cast<unsigned>(std::countr_zero(map_slots(children)))) & 0xFF;
    const int32_t none = bytes_from(state, parts.states);
    std::fill_n(map, map_slots(children), none);
    for (uint32_t c = second; c != 0; c = parts.links[c].next_sibling) {
      int32_t& slot = map[map_hash(states[c].offset, state.map_shift)];
      if (slot == none) slot = bytes_from(state, &parts.states[parts.links[c].made]);
    }
    used += static_cast<uint32_t>(map_slots(children));
  }
}

// The code of a child of the root in the callers table.
CallerCode caller_code_of(const plan::State& state, uint32_t root_child) {
  if (state.verdict == plan::kVerdictUndecided && root_child < kMaxRootChildren)
    return static_cast<CallerCode>(kCodeUndecided | root_child);
  return code_of(state);
}

// Such a state is never compared with a return address on a stack.
bool is_decided_at_once(const Placed& placed) { return !kCheckingBuild && is_decided(placed.code); }

bool is_entry(std::span<const plan::State> states, uint32_t i) {
  const uint32_t parent = states[i].parent;
  return parent == 0 || states[parent].module != states[i].module;
}

Placed placed_of(const Parts& parts, std::span<const plan::State> states, uint32_t i,
                 CallerCode code) {
  const uint32_t at = parts.links[i].made;
  const uint32_t parent = parts.states[at].parent;
  const bool is_first = parent != 0 && parent + 1 == at && parts.states[parent].is_plain();
  return {states[i].offset, at, code, is_first};
}

// Sorts the states by module, each module's entries behind its other states.
void add_placed(const Parts& parts, std::span<const plan::State> states) {
  Table& table = *parts.table;
  ModuleStates* modules = table.modules;
  for (uint32_t i = 1; i < states.size(); ++i) {
    ModuleStates& module = modules[states[i].module];
    ++module.end;
    module.entries += is_entry(states, i) ? 0 : 1;
  }
  uint32_t begin = 0;
  for (uint32_t m = 0; m < table.module_count; ++m) {
    const uint32_t inner = modules[m].entries, all = modules[m].end;
    modules[m] = {begin, begin, 0, begin + inner, kNoAddress, false};
    begin += all;
  }
  // During filling, `entries` and `end` are the positions of the next states.
  for (uint32_t i = 1; i < states.size(); ++i) {
    ModuleStates& module = modules[states[i].module];
    CallerCode code = kCodeForward;
    if (states[i].parent == 0) {
      const uint32_t root_child = table.root_child_count++;
      parts.root_children[root_child] = parts.links[i].made;
      code = caller_code_of(states[i], root_child);
    }
    uint32_t& to = is_entry(states, i) ? module.end : module.entries;
    parts.placed[to++] = placed_of(parts, states, i, code);
  }
  for (uint32_t m = 0; m < table.module_count; ++m) {
    Placed* placed = parts.placed;
    std::ranges::sort(placed + modules[m].begin, placed + modules[m].entries, {}, &Placed::state);
    auto* entries = placed + modules[m].entries;
    auto* end = placed + modules[m].end;
    auto* decided =
        std::partition(entries, end, [](const Placed& p) { return !is_decided_at_once(p); });
    modules[m].decided = static_cast<uint32_t>(decided - placed);
    std::ranges::sort(entries, decided, {}, &Placed::offset);
    std::ranges::sort(decided, end, {}, &Placed::offset);
  }
}

}  // namespace

size_t table_bytes(size_t states, size_t modules) {
  // A map has fewer than eight slots per child.
  const size_t each = sizeof(State) + sizeof(Placed) + 9 * sizeof(uint32_t) + sizeof(Links);
  return sizeof(Table) + states * each + slots_for(states) * sizeof(EdgeEntry) +
         modules * sizeof(ModuleStates) + 64;
}

Table* make_table(std::span<const plan::State> states, size_t modules, void* memory) {
  const size_t slots = slots_for(states.size());
  Parts parts{};
  parts.table = static_cast<Table*>(memory);
  parts.states = reinterpret_cast<State*>(parts.table + 1);
  parts.placed = reinterpret_cast<Placed*>(parts.states + states.size());
  auto* module_states = reinterpret_cast<ModuleStates*>(parts.placed + states.size());
  parts.maps = reinterpret_cast<int32_t*>(module_states + modules);
  parts.edges = reinterpret_cast<EdgeEntry*>(parts.maps + 8 * states.size());
  parts.root_children = reinterpret_cast<uint32_t*>(parts.edges + slots);
  parts.links = reinterpret_cast<Links*>(parts.root_children + states.size());

  Table& table = *parts.table;
  table.states = parts.states;
  parts.states[0] = root_state();
  table.state_count = 1;
  table.edges = parts.edges;
  table.edge_mask = static_cast<uint32_t>(slots - 1);
  table.edge_shift = static_cast<unsigned>(64 - std::countr_one(table.edge_mask));
  table.root_children = parts.root_children;
  table.maps = parts.maps;
  table.placed = parts.placed;
  table.modules = module_states;
  table.module_count = static_cast<uint32_t>(modules);

  link_children(states, parts.links);
  add_states(parts, states);
  add_maps(parts, states);
  add_placed(parts, states);
  return parts.table;
}

}  // namespace halo::runtime
