// Builds, walks and frees the tree.
#include "tree/tree.h"

#include <stdlib.h>

#include "common/memory.h"

Tree* tree_build(Rng* rng, uint64_t nodes) {
  if (nodes == 0) {
    return NULL;
  }
  Tree* tree = require_memory(malloc(sizeof *tree));
  tree->value = rng_next(rng) >> 32;
  tree->left = tree_build(rng, (nodes - 1) / 2);
  tree->right = tree_build(rng, nodes - 1 - (nodes - 1) / 2);
  return tree;
}

uint64_t tree_walk(Tree* tree, uint64_t depth) {
  if (tree == NULL) {
    return 0;
  }
  tree->value += depth;
  return tree->value + tree_walk(tree->left, depth + 1) + tree_walk(tree->right, depth + 1);
}

void tree_free(Tree* tree) {
  if (tree != NULL) {
    tree_free(tree->left);
    tree_free(tree->right);
    free(tree);
  }
}
