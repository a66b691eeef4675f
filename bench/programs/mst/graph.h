// An undirected graph: vertices with lists of separately allocated edges.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct HeapNode;

typedef struct Edge {
  struct Edge* next;
  struct Vertex* target;
  uint32_t weight;
} Edge;

typedef struct Vertex {
  Edge* edges;
  struct HeapNode* heap_node;     // while the vertex waits in the heap
  const struct Vertex* attached;  // its neighbour in the spanning tree
  uint32_t id;
  uint32_t cost;  // of the edge to that neighbour
  bool in_tree;
} Vertex;

typedef struct Graph {
  Vertex** vertices;
  uint32_t count;
} Graph;

// A connected random graph: a random tree and `extra_edges` more edges.
Graph graph_create(uint32_t vertices, uint32_t extra_edges, uint64_t seed);
void graph_destroy(Graph* graph);
