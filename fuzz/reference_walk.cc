// Steps 1 to 4 of the page.
#include "fuzz/reference_walk.h"

#include <set>
#include <utility>

namespace halo::fuzz {
namespace {

constexpr runtime::Verdict kForward{plan::kVerdictForward, 0};
constexpr int kMaxReads = 256;

}  // namespace

ReferenceWalk::ReferenceWalk(std::span<const plan::State> states,
                             std::span<const runtime::ModulePlace> places)
    : states_(states), addresses_(states.size()) {
  std::set<std::pair<uint32_t, uintptr_t>> edges;
  for (size_t i = 1; i < states.size(); ++i) {
    const runtime::ModulePlace& place = places[states[i].module];
    if (place.present) addresses_[i] = place.bias + states[i].offset;
    if (addresses_[i] != 0 && !edges.emplace(states[i].parent, addresses_[i]).second)
      ambiguous_ = true;
  }
}

uint32_t ReferenceWalk::child(uint32_t parent, uintptr_t address) const {
  for (uint32_t i = 1; i < states_.size() && address != 0; ++i)
    if (states_[i].parent == parent && addresses_[i] == address) return i;
  return 0;
}

uint32_t ReferenceWalk::on_path(uint32_t state, uintptr_t address) const {
  while (state != 0 && addresses_[state] != address) state = states_[state].parent;
  return state;
}

runtime::Verdict ReferenceWalk::walk(const uintptr_t* slot, uintptr_t rbp) const {
  auto here = reinterpret_cast<uintptr_t>(slot);
  uint32_t state = 0;
  for (int reads = 0; reads < kMaxReads; ++reads) {
    const uintptr_t address = *reinterpret_cast<const uintptr_t*>(here);
    uint32_t found = child(state, address);
    if (found != 0)
      state = found;
    else
      found = on_path(state, address);
    if (found == 0) return kForward;
    const plan::State& now = states_[state];
    if (now.verdict != plan::kVerdictUndecided)
      return now.alignment > 16 ? kForward : runtime::Verdict{now.verdict, now.alignment};

    const plan::State& step = states_[found];
    if (step.rule == plan::Rule::kEnd) return kForward;
    const uintptr_t from = step.rule == plan::Rule::kConstant ? here : rbp;
    const uintptr_t next = from + static_cast<uintptr_t>(intptr_t{step.step});
    const bool outwards = next % 8 == 0 && next - here - 8 <= uintptr_t{plan::kMaxStep};
    if (!outwards) return kForward;
    if ((step.flags & plan::kStateRestoresRbp) != 0) {
      const uintptr_t saved = next - static_cast<uintptr_t>(step.rbp_below);
      if (saved < here) return kForward;  // not in this frame
      rbp = *reinterpret_cast<const uintptr_t*>(saved);
    }
    here = next;
  }
  return kForward;
}

}  // namespace halo::fuzz
