// Lines in the order of their last use: a fully associative cache with LRU replacement.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/mapped_array.h"
#include "simulator/ways.h"

namespace halo::simulator {

// A doubly linked ring through an array that is indexed by the lines' names, which are dense, so
// every operation but for_each_newer() takes constant time. The head of the ring is entry 0, as no
// line has this name.
class RecencyList {
 public:
  // Where the list had a line: in order of the cost of a miss.
  enum class Found : uint8_t { kHeld, kDropped, kNever };

  // `capacity`: number of lines, at least 1.
  explicit RecencyList(size_t capacity) : capacity_(capacity) {}

  // Makes the line the newest one. Drops the oldest line if there are more than the capacity.
  Found use(uint32_t name) {
    if (name == newest()) return Found::kHeld;
    Node& node = nodes_[name];
    Found found = Found::kHeld;
    if ((node.older & kHeldBit) != 0) {
      unlink(node);
    } else {
      found = (node.newer & kSeenBit) != 0 ? Found::kDropped : Found::kNever;
      make_room();
    }
    link(name, node);
    return found;
  }

  bool holds(uint32_t name) const { return (nodes_[name].older & kHeldBit) != 0; }

  // Calls visit(name) for each line used after a held one, the newest first.
  template <class Visit>
  void for_each_newer(uint32_t name, const Visit& visit) const {
    for (uint32_t at = newest(); at != name; at = nodes_[at].older & kName) visit(at);
  }

 private:
  // Flags share the words of the links, as a name has 31 bits.
  static constexpr uint32_t kSeenBit = kEndOfNames;  // of `newer`: the line was used at least once
  static constexpr uint32_t kHeldBit = kEndOfNames;  // of `older`: the line is in the ring
  static constexpr uint32_t kName = kEndOfNames - 1;

  struct Node {
    uint32_t newer;  // of the head: the oldest line
    uint32_t older;  // of the head: the newest line
  };

  uint32_t newest() const { return nodes_[0].older; }

  void link(uint32_t name, Node& node) {
    const uint32_t next = newest();
    node = {kSeenBit, next | kHeldBit};
    set_newer(next, name);
    nodes_[0].older = name;
  }
  void unlink(const Node& node) {
    const uint32_t newer = node.newer & kName, older = node.older & kName;
    set_newer(older, newer);
    set_older(newer, older);
  }
  void make_room() {
    if (held_ < capacity_) {
      ++held_;
      return;
    }
    Node& oldest = nodes_[nodes_[0].newer];
    unlink(oldest);
    oldest = {kSeenBit, 0};
  }
  void set_newer(uint32_t of, uint32_t name) {
    Node& node = nodes_[of];
    node.newer = (node.newer & kSeenBit) | name;
  }
  void set_older(uint32_t of, uint32_t name) {
    Node& node = nodes_[of];
    node.older = (node.older & kHeldBit) | name;
  }

  size_t capacity_;
  size_t held_ = 0;
  base::MappedArray<Node> nodes_{kEndOfNames, kEndOfNames};  // by name
};

}  // namespace halo::simulator
