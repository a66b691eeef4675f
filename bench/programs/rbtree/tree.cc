// Finding, inserting and erasing in a red-black tree.
#include "rbtree/tree.h"

#include "rbtree/memory.h"

namespace rbtree {

Tree::Tree()
    : sentinel_{&sentinel_, &sentinel_, &sentinel_, 0.0f, Colour::kBlack}, root_(&sentinel_) {}

Tree::~Tree() { destroy(root_); }

void Tree::destroy(Node* node) {
  if (node != &sentinel_) {
    destroy(node->left);
    destroy(node->right);
    unmake(node);
  }
}

const Node* Tree::find(float payload) const {
  const Node* node = root_;
  while (node != &sentinel_ && node->payload != payload) {
    node = payload < node->payload ? node->left : node->right;
  }
  return node == &sentinel_ ? nullptr : node;
}

bool Tree::insert(float payload) {
  Node* parent = &sentinel_;
  for (Node* node = root_; node != &sentinel_;) {
    if (node->payload == payload) {
      return false;
    }
    parent = node;
    node = payload < node->payload ? node->left : node->right;
  }
  Node* node = make(payload, Node{parent, &sentinel_, &sentinel_, payload, Colour::kRed});
  if (parent == &sentinel_) {
    root_ = node;
  } else if (payload < parent->payload) {
    parent->left = node;
  } else {
    parent->right = node;
  }
  ++size_;
  repair_after_insert(node);
  return true;
}

bool Tree::erase(float payload) {
  Node* doomed = const_cast<Node*>(find(payload));
  if (doomed == nullptr) {
    return false;
  }
  Colour lost = doomed->colour;
  Node* moved_up = nullptr;
  if (doomed->left == &sentinel_) {
    moved_up = doomed->right;
    replace(doomed, moved_up);
  } else if (doomed->right == &sentinel_) {
    moved_up = doomed->left;
    replace(doomed, moved_up);
  } else {
    Node* heir = const_cast<Node*>(leftmost(doomed->right));
    lost = heir->colour;
    moved_up = heir->right;
    if (heir->parent == doomed) {
      moved_up->parent = heir;
    } else {
      replace(heir, moved_up);
      heir->right = doomed->right;
      heir->right->parent = heir;
    }
    replace(doomed, heir);
    heir->left = doomed->left;
    heir->left->parent = heir;
    heir->colour = doomed->colour;
  }
  if (lost == Colour::kBlack) {
    repair_after_erase(moved_up);
  }
  unmake(doomed);
  --size_;
  return true;
}

const Node* Tree::leftmost(const Node* node) const {
  while (node->left != &sentinel_) {
    node = node->left;
  }
  return node;
}

const Node* Tree::successor(const Node* node) const {
  if (node->right != &sentinel_) {
    return leftmost(node->right);
  }
  const Node* parent = node->parent;
  while (parent != &sentinel_ && node == parent->right) {
    node = parent;
    parent = parent->parent;
  }
  return parent;
}

}  // namespace rbtree
