// The obvious picture of what an allocator has handed out: every live block, none overlapping
// another, each filled with a pattern of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace halo::fuzz {

struct Block {
  char* at;
  std::size_t asked;
  std::size_t usable;  // what the allocator says there is
  unsigned site;
  bool from_new;  // by operator new, and so to be freed by operator delete
  std::uint8_t pattern;
};

void fill(const Block& block);
// The first `bytes` still hold the block's pattern.
bool intact(const Block& block, std::size_t bytes);

class ShadowModel {
 public:
  // Takes a block in whose pattern is there already.
  void add(const Block& block);
  // Checks the contents and forgets the block.
  Block remove(std::size_t index);
  void check_contents() const;

  std::size_t size() const { return blocks_.size(); }
  const Block& operator[](std::size_t index) const { return blocks_[index]; }

 private:
  std::vector<Block> blocks_;
  std::map<const char*, std::size_t> lengths_;  // by first byte
};

}  // namespace halo::fuzz
