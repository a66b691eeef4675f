// Rotations and recolouring that keep a red-black tree balanced.
#include "rbtree/tree.h"

namespace rbtree {

// Puts `successor` where `old` hangs; the sentinel gets a parent too, for repair_after_erase.
void Tree::replace(Node* old, Node* successor) {
  if (old->parent == &sentinel_) {
    root_ = successor;
  } else if (old == old->parent->left) {
    old->parent->left = successor;
  } else {
    old->parent->right = successor;
  }
  successor->parent = old->parent;
}

void Tree::rotate_left(Node* node) {
  Node* up = node->right;
  node->right = up->left;
  if (up->left != &sentinel_) {
    up->left->parent = node;
  }
  replace(node, up);
  up->left = node;
  node->parent = up;
}

void Tree::rotate_right(Node* node) {
  Node* up = node->left;
  node->left = up->right;
  if (up->right != &sentinel_) {
    up->right->parent = node;
  }
  replace(node, up);
  up->right = node;
  node->parent = up;
}

void Tree::repair_after_insert(Node* node) {
  while (node->parent->colour == Colour::kRed) {
    Node* parent = node->parent;
    Node* grandparent = parent->parent;
    const bool on_left = parent == grandparent->left;
    Node* uncle = on_left ? grandparent->right : grandparent->left;
    if (uncle->colour == Colour::kRed) {
      parent->colour = Colour::kBlack;
      uncle->colour = Colour::kBlack;
      grandparent->colour = Colour::kRed;
      node = grandparent;
      continue;
    }
    if (on_left) {
      if (node == parent->right) {
        node = parent;
        rotate_left(node);
      }
      node->parent->colour = Colour::kBlack;
      grandparent->colour = Colour::kRed;
      rotate_right(grandparent);
    } else {
      if (node == parent->left) {
        node = parent;
        rotate_right(node);
      }
      node->parent->colour = Colour::kBlack;
      grandparent->colour = Colour::kRed;
      rotate_left(grandparent);
    }
  }
  root_->colour = Colour::kBlack;
}

// The paths through `node` are short of one black node.
void Tree::repair_after_erase(Node* node) {
  while (node != root_ && node->colour == Colour::kBlack) {
    Node* parent = node->parent;
    const bool on_left = node == parent->left;
    Node* sibling = on_left ? parent->right : parent->left;
    if (sibling->colour == Colour::kRed) {
      sibling->colour = Colour::kBlack;
      parent->colour = Colour::kRed;
      on_left ? rotate_left(parent) : rotate_right(parent);
      sibling = on_left ? parent->right : parent->left;
    }
    Node* near = on_left ? sibling->left : sibling->right;
    Node* far = on_left ? sibling->right : sibling->left;
    if (near->colour == Colour::kBlack && far->colour == Colour::kBlack) {
      sibling->colour = Colour::kRed;
      node = parent;
      continue;
    }
    if (far->colour == Colour::kBlack) {
      near->colour = Colour::kBlack;
      sibling->colour = Colour::kRed;
      on_left ? rotate_right(sibling) : rotate_left(sibling);
      far = sibling;
      sibling = near;
    }
    sibling->colour = parent->colour;
    parent->colour = Colour::kBlack;
    far->colour = Colour::kBlack;
    on_left ? rotate_left(parent) : rotate_right(parent);
    node = root_;
  }
  node->colour = Colour::kBlack;
}

}  // namespace rbtree
