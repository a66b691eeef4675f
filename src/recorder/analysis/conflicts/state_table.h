// The states of objects: allocation context and block size.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "recorder/analysis/event.h"

namespace halo::sinks {

// The allocations that placement can tell apart (Yardımcı and Kaeli, section 3.1: the call stack
// and the size of the object).
struct ObjectState {
  static constexpr uint32_t kOtherSizes = 0;

  base::ContextId context;
  uint32_t size;  // bytes, rounded up to a multiple of 8; kOtherSizes: the rest of the context's
};

// Numbers states from 1 on; 0 stands for memory outside tracked objects. A context has at most
// kSizes states by size, and one for its other sizes.
class StateTable {
 public:
  static constexpr uint32_t kOutside = 0;
  static constexpr size_t kSizes = 8;

  StateTable() : states_(1) {}

  uint32_t of(const Object* object) {
    if (object == nullptr) return kOutside;
    const uint32_t context = base::index(object->context);
    const uint32_t size = std::max<uint32_t>((object->size + 7) / 8 * 8, 8);
    if (context >= by_context_.size()) by_context_.resize(context + 1);
    for (const uint32_t state : by_context_[context])
      if (states_[state].size == size || states_[state].size == ObjectState::kOtherSizes)
        return state;
    return add(object->context, size);
  }

  size_t count() const { return states_.size(); }
  const ObjectState& operator[](uint32_t state) const { return states_[state]; }

 private:
  uint32_t add(base::ContextId context, uint32_t size) {
    std::vector<uint32_t>& of_context = by_context_[base::index(context)];
    if (of_context.size() == kSizes) size = ObjectState::kOtherSizes;
    of_context.push_back(uint32_t(states_.size()));
    states_.push_back({context, size});
    return of_context.back();
  }

  std::vector<ObjectState> states_;  // by number
  std::vector<std::vector<uint32_t>> by_context_;
};

}  // namespace halo::sinks
