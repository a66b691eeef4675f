// Memory for made-up stacks: the word at `bottom` follows a page that may not be touched, and above
// it lies more zeroed memory than any walk can cross. What a plan says about distances is trusted,
// so this is how far one that lies may lead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace halo::fuzz {

class MadeStack {
 public:
  MadeStack();

  std::uintptr_t* bottom() const { return bottom_; }

  // Writes the word at an address; false where that is too far up to be worth memory.
  bool write(std::uintptr_t address, std::uintptr_t value);
  // Zeroes what was written.
  void clear();

 private:
  std::uintptr_t* bottom_;
  std::vector<std::uintptr_t*> written_;
};

// Maps that memory: reading far above its first bytes is allowed, touching anything below is not.
void* map_stack_space();

}  // namespace halo::fuzz
