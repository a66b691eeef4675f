// A plain binary tree: built, walked and freed by recursion.
#pragma once

#include <stdint.h>

#include "common/rng.h"

typedef struct Tree {
  struct Tree* left;
  struct Tree* right;
  uint64_t value;
} Tree;

// A tree of that many nodes with random values, as balanced as possible; NULL if there are none.
Tree* tree_build(Rng* rng, uint64_t nodes);
// The sum of all values. Adds the depth of each node to its value.
uint64_t tree_walk(Tree* tree, uint64_t depth);
void tree_free(Tree* tree);
