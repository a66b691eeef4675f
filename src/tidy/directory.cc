// Splitting and removing leaves.
#include "tidy/directory.h"

#include <algorithm>

namespace halo::tidy {

bool Directory::open(Leaf root) {
  if (!leaves_.reserve(root + 1)) return false;
  leaves_[root] = {0, 1};
  root_ = root | kLeaf;
  return true;
}

// Puts `by` where `child` of the node `parent` is.
void Directory::replace(uint32_t parent, uint32_t child, uint32_t by) {
  if (parent == 0) {
    root_ = by;
  } else {
    Node& node = nodes_[parent];
    node.children[node.children[1] == child] = by;
  }
  if ((by & kLeaf) != 0) {
    leaves_[by & ~kLeaf].parent = parent;
  } else {
    nodes_[by].parent = parent;
  }
}

bool Directory::split(Leaf leaf, Leaf other, unsigned bit, bool side) {
  const uint32_t number = free_ != 0 ? free_ : used_;
  if (!nodes_.reserve(number + 1) || !leaves_.reserve(other + 1)) return false;
  if (number == free_) {
    free_ = nodes_[number].parent;
  } else {
    ++used_;
  }
  const uint32_t above = leaves_[leaf].parent;
  Node& node = nodes_[number];
  node.bit = static_cast<uint8_t>(bit);
  node.children[side] = leaf | kLeaf;
  node.children[!side] = other | kLeaf;
  replace(above, leaf | kLeaf, number);
  for (const Leaf changed : {leaf, other}) {
    leaves_[changed].parent = number;
    ++leaves_[changed].generation;
  }
  const bool is_lower = bit < lowest_;
  if (is_lower) lowest_ = bit;
  if (used_ >= kUncached && (is_lower || cache_ == nullptr)) start_caching();
  return true;
}

bool Directory::remove(Leaf leaf) {
  const uint32_t number = leaves_[leaf].parent;
  if (number == 0) return false;
  const Node node = nodes_[number];
  replace(node.parent, number, node.children[node.children[0] == (leaf | kLeaf)]);
  ++leaves_[leaf].generation;
  nodes_[number].parent = free_;
  free_ = number;
  return true;
}

// With an empty cache, since prefixes have become longer.
void Directory::start_caching() {
  constexpr uint32_t entries = 1u << kCacheBits;
  if (cache_ == nullptr) {
    cache_ = static_cast<Cached*>(metadata_->take(entries * sizeof(Cached)));
  } else {
    std::fill_n(cache_, entries, Cached{});
  }
}

}  // namespace halo::tidy
