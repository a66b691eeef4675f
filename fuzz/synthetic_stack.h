// Memory for synthetic stacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace halo::fuzz {

// The word at `bottom` follows a page that may not be accessed. Above it is more zeroed memory than
// any walk can cross. The walk trusts a plan's distances, so wrong ones lead at most that far.
class SyntheticStack {
 public:
  SyntheticStack();

  uintptr_t* bottom() const { return bottom_; }

  // Writes the word at an address; returns false if that is too far up.
  bool write(uintptr_t address, uintptr_t value);
  // Zeroes all written words.
  void clear();

 private:
  uintptr_t* bottom_;
  std::vector<uintptr_t*> written_;
};

// Maps that memory: it may be read far above its first bytes, but not below them.
void* map_stack_space();

}  // namespace halo::fuzz
