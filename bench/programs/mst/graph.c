// Makes random connected graphs.
#include "mst/graph.h"

#include <stdlib.h>

#include "common/memory.h"
#include "common/rng.h"

enum { kMaximumWeight = 1 << 20 };

static void add_half_edge(Vertex* source, Vertex* target, uint32_t weight) {
  Edge* edge = require_memory(malloc(sizeof *edge));
  edge->next = source->edges;
  edge->target = target;
  edge->weight = weight;
  source->edges = edge;
}

static void connect(Vertex* a, Vertex* b, uint32_t weight) {
  add_half_edge(a, b, weight);
  add_half_edge(b, a, weight);
}

static Vertex* create_vertex(uint32_t id) {
  Vertex* vertex = require_memory(calloc(1, sizeof *vertex));
  vertex->id = id;
  return vertex;
}

Graph graph_create(uint32_t vertices, uint32_t extra_edges, uint64_t seed) {
  Rng rng = {seed};
  Graph graph = {require_memory(malloc(vertices * sizeof(Vertex*))), vertices};
  for (uint32_t i = 0; i < vertices; ++i) {
    graph.vertices[i] = create_vertex(i);
    if (i > 0) {
      const uint32_t neighbour = rng_below(&rng, i);
      connect(graph.vertices[i], graph.vertices[neighbour], 1 + rng_below(&rng, kMaximumWeight));
    }
  }
  for (uint32_t i = 0; i < extra_edges; ++i) {
    const uint32_t a = rng_below(&rng, vertices);
    const uint32_t b = rng_below(&rng, vertices);
    connect(graph.vertices[a], graph.vertices[b], 1 + rng_below(&rng, kMaximumWeight));
  }
  return graph;
}

void graph_destroy(Graph* graph) {
  for (uint32_t i = 0; i < graph->count; ++i) {
    Edge* edge = graph->vertices[i]->edges;
    while (edge != NULL) {
      Edge* next = edge->next;
      free(edge);
      edge = next;
    }
    free(graph->vertices[i]);
  }
  free(graph->vertices);
}
