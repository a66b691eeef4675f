// The slow path of the shadow stack: changes from one stack to another.
#include "recorder/contexts/shadow_stack.h"

#include <algorithm>

namespace halo::record {

ShadowStack::ShadowStack(FindMapping find_mapping) : find_mapping_(std::move(find_mapping)) {
  stacks_.emplace_back();  // an empty mapping: the first slot creates a stack
  current_ = &stacks_.front();
}

void ShadowStack::insert(uint64_t slot, uint64_t return_address) {
  auto& frames = current_->frames;
  if (frames.empty() || slot < frames.back().slot) return call(slot, return_address);
  auto at =
      std::lower_bound(frames.begin(), frames.end(), slot,
                       [](const ShadowFrame& frame, uint64_t value) { return frame.slot > value; });
  if (at->slot != slot) {
    at = frames.insert(at, {slot, return_address});
  } else if (at->return_address == return_address) {
    return;
  }
  *at = {slot, return_address};
  for (; at != frames.end(); ++at) at->node = ShadowFrame::kUnresolved;
}

bool ShadowStack::belongs(const Stack& stack, uint64_t slot) {
  if (!stack.mapping.contains(slot) || slot > stack.highest) return false;
  const uint64_t innermost = stack.frames.empty() ? stack.highest : stack.frames.back().slot;
  return slot + kReach >= innermost;
}

// Searched only if no known stack contains the slot. A mapping that has grown contains its former
// stacks.
AddressRange ShadowStack::mapping_of(uint64_t slot) {
  for (const Stack& stack : stacks_)
    if (stack.mapping.contains(slot)) return stack.mapping;
  const AddressRange mapping = find_mapping_(slot);
  for (Stack& stack : stacks_)
    if (mapping.contains(stack.highest)) stack.mapping = mapping;
  return mapping;
}

void ShadowStack::switch_to(uint64_t slot) {
  moved_ = false;
  const AddressRange mapping = mapping_of(slot);
  // The nearest of the stacks above the slot.
  auto best = stacks_.end();
  for (auto at = stacks_.begin(); at != stacks_.end(); ++at) {
    if (!at->mapping.contains(slot) || slot > at->highest) continue;
    if (best == stacks_.end() || at->highest < best->highest) best = at;
  }
  if (best != stacks_.end() && belongs(*best, slot)) {
    stacks_.splice(stacks_.begin(), stacks_, best);
  } else {
    if (stacks_.size() >= kMaxStacks) stacks_.pop_back();
    stacks_.push_front({.mapping = mapping, .highest = slot, .frames = {}});
  }
  current_ = &stacks_.front();
}

}  // namespace halo::record
