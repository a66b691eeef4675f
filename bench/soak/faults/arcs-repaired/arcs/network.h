// A flow network: its arcs are one array, and their states another one.
#pragma once

#include <stdint.h>

enum ArcState { kClosed = 0, kOpen = 1 };

typedef struct Node Node;
typedef struct Arc Arc;

struct Arc {
  int64_t cost;
  Node* tail;
  Node* head;
  int64_t flow;
  int64_t capacity;
  Arc* next_out;
  int64_t times_used;
  int32_t number;
};

struct Node {
  int64_t potential;
  Arc* first_out;
};

typedef struct Network {
  Arc* arcs;
  int32_t* states;
  Node* nodes;
  uint32_t arc_count;
  uint32_t node_count;
} Network;

// Random costs and ends; every arc is closed. network_free frees its memory.
Network network_create(uint32_t nodes, uint32_t arcs, uint64_t seed);
// Allocates the memory, zeroed.
Network network_allocate(uint32_t nodes, uint32_t arcs);
void network_free(Network* network);
