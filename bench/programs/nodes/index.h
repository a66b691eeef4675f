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
  Index(uint32_t count, size_t bytes, Rng& rng);
  ~Index();
  Index(const Index&) = delete;
  Index& operator=(const Index&) = delete;

  // Goes from node to node along links that random numbers choose.
  void visit(Rng& rng, long visits);
  uint64_t checksum() const;
  uint64_t keys_below() const { return keys_below_; }

 private:
  Node* create(uint32_t id, Rng& rng) const;
  void link(int which, Rng& rng);
  // How many keys of the node are smaller.
  size_t search(Node& node, uint64_t key) const;

  size_t bytes_;
  size_t keys_;
  std::vector<Node*> nodes_;
  uint64_t keys_below_ = 0;
};

}  // namespace nodes
