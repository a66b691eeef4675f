// Which leaf a key belongs to: a binary tree of tests of single bits.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "tidy/metadata.h"
#include "tidy/tracer.h"

namespace halo::tidy {

// A cell or cluster by number; its owner assigns the numbers.
using Leaf = uint32_t;

// The bits in which keys differ.
class KeyRange {
 public:
  void clear() { *this = {}; }
  void add(uint64_t key) {
    all_ &= key;
    any_ |= key;
  }
  // Whether adding the key would change nothing.
  bool contains(uint64_t key) const { return (all_ & ~key) == 0 && (key & ~any_) == 0; }
  // All bits that are set in any of them.
  uint64_t any() const { return any_; }
  bool differs() const { return (any_ & ~all_) != 0; }
  // The highest bit in which two of the keys differ. There must be one.
  unsigned top_bit() const { return 63 - static_cast<unsigned>(std::countl_zero(any_ & ~all_)); }

 private:
  uint64_t all_ = ~uint64_t{0};
  uint64_t any_ = 0;
};

// Two keys that first differ in a low bit are near each other: keys of several dimensions
// interleave their bits (Morton order). A leaf is split at the highest bit in which its own keys
// differ. All keys that reach a leaf agree in the bits that were tested on the way, so no path
// tests a bit twice, and the depth is at most 64.
//
// The leaves of recently sought keys are cached: all keys with the same bits above the lowest
// tested one have the same leaf. An entry holds while the generation of its leaf is the same;
// splitting and removing a leaf change it.
//
// Not for several threads at once.
template <class Tracer = Untraced>
class Directory {
 public:
  static constexpr uint32_t kMaxLeaves = 1u << 24;

  explicit Directory(Metadata& metadata)
      : metadata_(&metadata), nodes_(metadata), leaves_(metadata) {}

  // Makes `root` the only leaf; false if memory is refused.
  bool open(Leaf root);

  Leaf find(uint64_t key) {
    if (cache_ == nullptr) return find_from(root_, key);
    const uint64_t prefix = key >> lowest_;
    Cached& cached = cache_[prefix * kMultiplier >> (64 - kCacheBits)];
    Tracer::touch(&cached, sizeof cached);
    if (cached.prefix == prefix && cached.generation == leaves_[cached.leaf].generation)
      return cached.leaf;
    const Leaf leaf = find_from(root_, key);
    cached = {prefix, leaf, leaves_[leaf].generation};
    return leaf;
  }

  // Splits `leaf`: it keeps the keys whose bit `bit` is `side`, `other` gets the rest. Returns
  // false if memory is refused.
  bool split(Leaf leaf, Leaf other, unsigned bit, bool side);

  // Removes `leaf`, whose keys its sibling gets; false if it is the only leaf.
  bool remove(Leaf leaf);

  // Calls visit(leaf) with a leaf of each sibling subtree on the way up, nearest first, until it
  // returns true or `max` were visited. Returns whether a visit did.
  template <class Visit>
  bool visit_near(Leaf leaf, uint64_t key, int max, const Visit& visit) const {
    for (uint32_t up = leaves_[leaf].parent; up != 0 && max > 0; up = nodes_[up].parent, --max) {
      const Node& node = nodes_[up];
      if (visit(find_from(node.children[(key >> node.bit & 1) == 0], key))) return true;
    }
    return false;
  }

 private:
  static constexpr uint32_t kLeaf = 1u << 31;  // a child is a leaf, not a node
  static constexpr uint32_t kCacheBits = 12;
  static constexpr uint32_t kUncached = 16;  // nodes that are walked without a cache
  static constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15;

  struct LeafEntry {
    uint32_t parent;      // a node, or 0
    uint32_t generation;  // of the keys that reach it; never 0 in use
  };
  struct Cached {
    uint64_t prefix;
    Leaf leaf;
    uint32_t generation;  // 0: unused
  };

  struct Node {
    uint32_t children[2];
    uint32_t parent;  // a node, 0 for the root; also the next free node
    uint8_t bit;
  };

  Leaf find_from(uint32_t at, uint64_t key) const {
    while ((at & kLeaf) == 0) at = nodes_[at].children[key >> nodes_[at].bit & 1];
    return at & ~kLeaf;
  }
  void replace(uint32_t parent, uint32_t child, uint32_t by);
  void start_caching();

  Metadata* metadata_;
  uint32_t root_ = 0;
  uint32_t used_ = 1;  // nodes; the first stands for none
  uint32_t free_ = 0;  // the first free node, or 0
  Table<Node, kMaxLeaves, Tracer> nodes_;
  Table<LeafEntry, kMaxLeaves, Tracer> leaves_;
  Cached* cache_ = nullptr;  // none while the tree is small
  unsigned lowest_ = 63;     // the lowest bit that was ever tested
};

template <class Tracer>
bool Directory<Tracer>::open(Leaf root) {
  if (!leaves_.reserve(root + 1)) return false;
  leaves_[root] = {0, 1};
  root_ = root | kLeaf;
  return true;
}

// Puts `by` where `child` of the node `parent` is.
template <class Tracer>
void Directory<Tracer>::replace(uint32_t parent, uint32_t child, uint32_t by) {
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

template <class Tracer>
bool Directory<Tracer>::split(Leaf leaf, Leaf other, unsigned bit, bool side) {
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

template <class Tracer>
bool Directory<Tracer>::remove(Leaf leaf) {
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
template <class Tracer>
void Directory<Tracer>::start_caching() {
  constexpr uint32_t kEntries = 1u << kCacheBits;
  if (cache_ == nullptr) {
    cache_ = static_cast<Cached*>(metadata_->take(kEntries * sizeof(Cached)));
  } else {
    std::fill_n(cache_, kEntries, Cached{});
    Tracer::touch(cache_, kEntries * sizeof(Cached));
  }
}

}  // namespace halo::tidy
