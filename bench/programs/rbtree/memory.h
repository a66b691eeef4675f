// How the tree allocates its nodes: each by new.
#pragma once

#include <utility>

namespace rbtree {

// The payload is a hint, which is not used here.
template <typename Node>
Node* make(float, Node&& content) {
  return new Node(std::forward<Node>(content));
}

template <typename Node>
void unmake(Node* node) {
  delete node;
}

}  // namespace rbtree
