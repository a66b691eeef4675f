// Makes the nodes, links them in random order, and visits them.
#include "nodes/index.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "common/checksum.h"
#include "common/memory.h"

namespace nodes {

Index::Index(uint32_t count, size_t bytes, Rng& rng)
    : bytes_(bytes), keys_((bytes - sizeof(Node)) / sizeof(uint64_t)) {
  for (uint32_t id = 0; id < count; ++id) {
    nodes_.push_back(create(id, rng));
  }
  link(0, rng);
  link(1, rng);
}

Index::~Index() {
  for (Node* node : nodes_) {
    std::free(node);
  }
}

Node* Index::create(uint32_t id, Rng& rng) const {
  auto* node = static_cast<Node*>(require_memory(std::malloc(bytes_)));
  *node = {{nullptr, nullptr}, id, 0, 0};
  uint64_t key = 0;
  for (size_t i = 0; i < keys_; ++i) {
    key += 1 + rng_below(&rng, 1 << 20);
    node->keys()[i] = key;
  }
  return node;
}

// One link of each kind leads to every node, so that all are visited equally often.
void Index::link(int which, Rng& rng) {
  std::vector<Node*> targets = nodes_;
  for (auto left = static_cast<uint32_t>(targets.size()); left > 0; --left) {
    std::swap(targets[left - 1], targets[rng_below(&rng, left)]);
    nodes_[left - 1]->links[which] = targets[left - 1];
  }
}

void Index::visit(Rng& rng, long visits) {
  constexpr int kVisitsPerDraw = 64;
  Node* node = nodes_.front();
  uint64_t choices = 0;
  for (long i = 0; i < visits; ++i) {
    if (i % kVisitsPerDraw == 0) {
      choices = rng_next(&rng);
      keys_below_ += search(*node, choices >> 36);
    }
    ++node->visits;
    node->total += static_cast<uint64_t>(i);
    node = node->links[choices & 1];
    choices >>= 1;
  }
}

size_t Index::search(Node& node, uint64_t key) const {
  const uint64_t* keys = node.keys();
  return static_cast<size_t>(std::lower_bound(keys, keys + keys_, key) - keys);
}

uint64_t Index::checksum() const {
  uint64_t checksum = keys_below_;
  for (const Node* node : nodes_) {
    checksum = checksum_add(checksum, node->visits);
    checksum = checksum_add(checksum, node->total);
    checksum = checksum_add(checksum, node->links[0]->id);
  }
  return checksum;
}

}  // namespace nodes
