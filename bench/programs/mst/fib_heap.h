// A Fibonacci heap: a priority queue whose keys can be decreased in constant amortised time.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct HeapNode {
  struct HeapNode* parent;
  struct HeapNode* child;  // any one of the children
  struct HeapNode* left;   // siblings form a ring
  struct HeapNode* right;
  void* item;
  uint32_t key;
  uint16_t degree;
  bool marked;  // has lost a child since it became one itself
} HeapNode;

typedef struct FibHeap {
  HeapNode* minimum;  // one of the ring of roots
} FibHeap;

// The node stays valid until heap_take_minimum returns its item.
HeapNode* heap_insert(FibHeap* heap, uint32_t key, void* item);
void heap_decrease(FibHeap* heap, HeapNode* node, uint32_t key);

// Frees the node with the least key and returns its item; NULL if the heap is empty.
void* heap_take_minimum(FibHeap* heap);
