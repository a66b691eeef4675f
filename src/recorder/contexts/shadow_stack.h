// A thread's call stack, reconstructed from the stores of its calls and the loads of its returns.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <vector>

#include "recorder/contexts/code/memory_map.h"

namespace halo::record {

struct ShadowFrame {
  static constexpr uint32_t kUnresolved = UINT32_MAX - 1;

  uint64_t slot;  // address of the return address
  uint64_t return_address;
  uint32_t node = kUnresolved;  // the reduced stack up to here, once resolved
};

// Frames are dropped by slot address: a call or return at slot S ends all frames at or below S. So
// longjmp, exceptions and unmatched calls correct themselves. A thread may own several stacks
// (signal stacks, coroutines); each keeps its frames while another one is in use.
class ShadowStack {
 public:
  // Returns the mapping that contains a stack slot.
  using FindMapping = std::function<AddressRange(uint64_t)>;

  explicit ShadowStack(FindMapping find_mapping);

  void call(uint64_t slot, uint64_t return_address) {
    drop_through(slot);
    current_->frames.push_back({slot, return_address});
  }
  void ret(uint64_t slot) { drop_through(slot); }

  // Inserts a frame whose call was not seen, inside the outermost frame of the stack in use; the
  // frames inside of it remain.
  void insert(uint64_t slot, uint64_t return_address);

  // The stack pointer was loaded from elsewhere: the next slot may be on another stack.
  void stack_pointer_loaded() { moved_ = true; }

  // Outermost first.
  std::vector<ShadowFrame>& frames() { return current_->frames; }
  size_t stacks() const { return stacks_.size(); }

 private:
  static constexpr size_t kMaxStacks = 1024;
  // After a load of the stack pointer, a slot further below a stack's innermost frame than this
  // does not extend that stack.
  static constexpr uint64_t kReach = 64 * 1024;

  struct Stack {
    AddressRange mapping;
    uint64_t highest = 0;  // slot seen
    std::vector<ShadowFrame> frames;
  };

  void drop_through(uint64_t slot) {
    if (moved_ || !current_->mapping.contains(slot)) [[unlikely]]
      switch_to(slot);
    auto& frames = current_->frames;
    while (!frames.empty() && frames.back().slot <= slot) frames.pop_back();
  }
  void switch_to(uint64_t slot);
  AddressRange mapping_of(uint64_t slot);
  static bool belongs(const Stack& stack, uint64_t slot);

  FindMapping find_mapping_;
  std::list<Stack> stacks_;  // most recently used first
  Stack* current_;
  bool moved_ = false;
};

}  // namespace halo::record
