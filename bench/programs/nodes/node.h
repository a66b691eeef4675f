// A node of an index: a header with two links and counters, then keys in ascending order.
#pragma once

#include <cstdint>

namespace nodes {

struct Node {
  Node* links[2];
  uint32_t id;
  uint32_t visits;
  uint64_t total;

  // The keys fill the rest of the object.
  uint64_t* keys() { return reinterpret_cast<uint64_t*>(this + 1); }
};

constexpr long kSmallestNode = sizeof(Node) + sizeof(uint64_t);

}  // namespace nodes
