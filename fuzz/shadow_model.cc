// Overlap and content checks.
#include "fuzz/shadow_model.h"

#include <iterator>

#include "fuzz/finding.h"

namespace halo::fuzz {
namespace {

uint8_t pattern_at(const Block& block, size_t i) {
  return static_cast<uint8_t>(block.pattern + i * 7);
}

}  // namespace

void fill(const Block& block) {
  for (size_t i = 0; i < block.usable; ++i) block.at[i] = static_cast<char>(pattern_at(block, i));
}

bool intact(const Block& block, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    if (static_cast<uint8_t>(block.at[i]) != pattern_at(block, i)) return false;
  return true;
}

void ShadowModel::add(const Block& block) {
  const auto above = lengths_.lower_bound(block.at);
  if (above != lengths_.end())
    require(block.at + block.usable <= above->first, "a block overlaps the one above it");
  if (above != lengths_.begin()) {
    const auto below = std::prev(above);
    require(below->first + below->second <= block.at, "a block overlaps the one below it");
  }
  lengths_[block.at] = block.usable;
  blocks_.push_back(block);
}

Block ShadowModel::remove(size_t index) {
  const Block block = blocks_[index];
  require(intact(block, block.usable), "a live block was written over");
  lengths_.erase(block.at);
  blocks_[index] = blocks_.back();
  blocks_.pop_back();
  return block;
}

void ShadowModel::check_contents() const {
  for (const Block& block : blocks_)
    require(intact(block, block.usable), "a live block was written over");
}

}  // namespace halo::fuzz
