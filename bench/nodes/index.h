// An index of nodes that all have the same size, each allocated separately.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/rng.h"
#include "nodes/node.h"

namespace nodes {

class Index {
 public:
  Index(std::uint32_t count, std::size_t bytes, Rng& rng);
  ~Index();
  Index(const Index&) = delete;
  Index& operator=(const Index&) = delete;

  // Goes from node to node along links that random numbers choose.
  void visit(Rng& rng, long visits);
  std::uint64_t checksum() const;
  std::uint64_t keys_below() const { return keys_below_; }

 private:
  Node* create(std::uint32_t id, Rng& rng) const;
  void link(int which, Rng& rng);
  // How many keys of the node are smaller.
  std::size_t search(Node& node, std::uint64_t key) const;

  std::size_t bytes_;
  std::size_t keys_;
  std::vector<Node*> nodes_;
  std::uint64_t keys_below_ = 0;
};

}  // namespace nodes
