// A red-black tree of floating point payloads, with a sentinel in place of null.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rbtree {

enum class Colour : uint8_t { kRed, kBlack };

struct Node {
  Node* parent;
  Node* left;
  Node* right;
  float payload;
  Colour colour;
};

class Tree {
 public:
  Tree();
  ~Tree();
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  // False if the payload is in the tree already.
  bool insert(float payload);
  // False if it is not in the tree.
  bool erase(float payload);
  // Null if it is not in the tree.
  const Node* find(float payload) const;

  // Calls visit(payload) in ascending order.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const Node* node = leftmost(root_); node != &sentinel_; node = successor(node)) {
      visit(node->payload);
    }
  }

  size_t size() const { return size_; }

 private:
  const Node* leftmost(const Node* node) const;
  const Node* successor(const Node* node) const;
  void rotate_left(Node* node);
  void rotate_right(Node* node);
  void replace(Node* old, Node* successor);
  void repair_after_insert(Node* node);
  void repair_after_erase(Node* node);
  void destroy(Node* node);

  // Black, so that the rules need no special case at the leaves; its parent is set while erasing.
  Node sentinel_;
  Node* root_;
  size_t size_ = 0;
};

}  // namespace rbtree
