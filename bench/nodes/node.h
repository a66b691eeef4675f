// A node of an index: a header with two links and counters, then keys in ascending order.
#pragma once

#include <cstdint>

namespace nodes {

struct Node {
  Node* links[2];
  std::uint32_t id;
  std::uint32_t visits;
  std::uint64_t total;

  // The keys fill the rest of the object.
  std::uint64_t* keys() { return reinterpret_cast<std::uint64_t*>(this + 1); }
};

constexpr long kSmallestNode = sizeof(Node) + sizeof(std::uint64_t);

}  // namespace nodes
