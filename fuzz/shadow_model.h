// The model of an allocator: all live blocks, without overlaps, each filled with its own pattern.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace halo::fuzz {

struct Block {
  char* at;
  size_t requested;
  size_t usable;  // the usable size that the allocator reports
  unsigned site;
  bool from_new;  // by operator new, so operator delete must free it
  uint8_t pattern;
};

void fill(const Block& block);
// Whether the first `bytes` still have the block's pattern.
bool intact(const Block& block, size_t bytes);

class ShadowModel {
 public:
  // Adds a block that is filled with its pattern already.
  void add(const Block& block);
  // Checks the contents and removes the block.
  Block remove(size_t index);
  void check_contents() const;

  size_t size() const { return blocks_.size(); }
  const Block& operator[](size_t index) const { return blocks_[index]; }

 private:
  std::vector<Block> blocks_;
  std::map<const char*, size_t> lengths_;  // by first byte
};

}  // namespace halo::fuzz
