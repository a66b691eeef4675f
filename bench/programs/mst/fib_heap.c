// A Fibonacci heap, after Fredman and Tarjan.
#include "mst/fib_heap.h"

#include <stdlib.h>

#include "common/memory.h"

// A heap of n nodes has roots of degree below 1.45 log2(n).
enum { kMaximumDegree = 64 };

static void make_ring(HeapNode* node) { node->left = node->right = node; }

static void insert_beside(HeapNode* neighbour, HeapNode* node) {
  node->left = neighbour;
  node->right = neighbour->right;
  neighbour->right->left = node;
  neighbour->right = node;
}

static void unlink_from_ring(HeapNode* node) {
  node->left->right = node->right;
  node->right->left = node->left;
}

static void add_root(FibHeap* heap, HeapNode* node) {
  node->parent = NULL;
  if (heap->minimum == NULL) {
    make_ring(node);
    heap->minimum = node;
    return;
  }
  insert_beside(heap->minimum, node);
  if (node->key < heap->minimum->key) {
    heap->minimum = node;
  }
}

HeapNode* heap_insert(FibHeap* heap, uint32_t key, void* item) {
  HeapNode* node = require_memory(malloc(sizeof *node));
  *node = (HeapNode){.item = item, .key = key};
  add_root(heap, node);
  return node;
}

static void cut_from_parent(FibHeap* heap, HeapNode* node) {
  HeapNode* parent = node->parent;
  if (parent->child == node) {
    parent->child = node->right == node ? NULL : node->right;
  }
  --parent->degree;
  unlink_from_ring(node);
  node->marked = false;
  add_root(heap, node);
}

void heap_decrease(FibHeap* heap, HeapNode* node, uint32_t key) {
  node->key = key;
  HeapNode* parent = node->parent;
  if (parent == NULL) {
    if (key < heap->minimum->key) {
      heap->minimum = node;
    }
    return;
  }
  if (key >= parent->key) {
    return;
  }
  cut_from_parent(heap, node);
  // A node that loses its second child is cut as well: this keeps the trees wide.
  for (node = parent; node->parent != NULL; node = parent) {
    parent = node->parent;
    if (!node->marked) {
      node->marked = true;
      break;
    }
    cut_from_parent(heap, node);
  }
}

static HeapNode* link_trees(HeapNode* a, HeapNode* b) {
  HeapNode* root = b->key < a->key ? b : a;
  HeapNode* child = root == a ? b : a;
  child->parent = root;
  child->marked = false;
  if (root->child == NULL) {
    make_ring(child);
    root->child = child;
  } else {
    insert_beside(root->child, child);
  }
  ++root->degree;
  return root;
}

// Inserts the trees of the ring by degree, linking trees of equal degree.
static void gather(HeapNode* by_degree[], HeapNode* ring) {
  if (ring == NULL) {
    return;
  }
  ring->left->right = NULL;  // opens the ring, as linking rewrites the pointers
  for (HeapNode* next = NULL; ring != NULL; ring = next) {
    next = ring->right;
    HeapNode* tree = ring;
    tree->parent = NULL;
    while (by_degree[tree->degree] != NULL) {
      HeapNode* other = by_degree[tree->degree];
      by_degree[tree->degree] = NULL;
      tree = link_trees(other, tree);
    }
    by_degree[tree->degree] = tree;
  }
}

void* heap_take_minimum(FibHeap* heap) {
  HeapNode* minimum = heap->minimum;
  if (minimum == NULL) {
    return NULL;
  }
  HeapNode* roots = minimum->right == minimum ? NULL : minimum->right;
  unlink_from_ring(minimum);

  HeapNode* by_degree[kMaximumDegree] = {NULL};
  gather(by_degree, roots);
  gather(by_degree, minimum->child);
  heap->minimum = NULL;
  for (int degree = 0; degree < kMaximumDegree; ++degree) {
    if (by_degree[degree] != NULL) {
      add_root(heap, by_degree[degree]);
    }
  }
  void* item = minimum->item;
  free(minimum);
  return item;
}
