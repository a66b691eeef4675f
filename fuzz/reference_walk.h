// A slow walk exactly as docs/plan-format.md words it, for comparison.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/format.h"
#include "runtime/identify/identifier.h"
#include "runtime/modules/modules.h"

namespace halo::fuzz {

class ReferenceWalk {
 public:
  ReferenceWalk(std::span<const plan::State> states, std::span<const runtime::ModulePlace> places);

  // A state's return address; 0: its module is not loaded.
  uintptr_t address(uint32_t state) const { return addresses_[state]; }

  // Whether a state has two children with the same return address, which the format forbids: then
  // either may be taken.
  bool ambiguous() const { return ambiguous_; }

  // The verdict of a walk from `slot`. A frame with rbp saved outside of it ends the walk.
  runtime::Verdict walk(const uintptr_t* slot, uintptr_t rbp) const;

 private:
  uint32_t child(uint32_t parent, uintptr_t address) const;
  uint32_t on_path(uint32_t state, uintptr_t address) const;

  std::span<const plan::State> states_;
  std::vector<uintptr_t> addresses_;
  bool ambiguous_ = false;
};

}  // namespace halo::fuzz
