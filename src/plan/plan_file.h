// Opens and validates a compact plan without allocating, so that it can run before main.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "plan/format.h"

namespace halo::plan {

// A validated plan in memory that the caller keeps mapped.
struct PlanView {
  const Header* header = nullptr;
  std::span<const Module> modules;
  std::span<const Group> groups;
  std::span<const State> states;
  std::span<const Site> sites;
  std::span<const Conjunction> conjunctions;
  std::span<const CheckedModule> checked_modules;
  std::span<const Relaxation> relaxations;

  // Every small object goes to a random group; the root has the alignment.
  bool draws_pools() const { return (header->flags & kHeaderRandomPools) != 0; }
  // Selectors identify groups: the first conjunction that holds decides, and no walk is needed.
  bool selects() const {
    return header->version == kSelectorVersion || (header->flags & kHeaderSelectors) != 0;
  }
};

// Checks every field that the runtime relies on. Returns nullptr and fills `view`, or returns one
// sentence that describes the error.
const char* validate(std::span<const std::byte> file, PlanView& view);

// Checks a group. Returns nullptr, or one sentence that describes the error. `known_flags` are
// those of the plan's version.
const char* check_group(const Group& group, uint32_t known_flags);

// Reads the file at `path` into new memory and validates it. Returns the same as `validate`; on
// success the memory is never freed.
const char* load_plan(const char* path, PlanView& view);

}  // namespace halo::plan
