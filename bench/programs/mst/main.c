// mst: Prim's minimum spanning tree with a Fibonacci heap, after Ptrdist's description of ft.
#include <inttypes.h>
#include <stdio.h>

#include "common/args.h"
#include "common/checksum.h"
#include "mst/fib_heap.h"
#include "mst/graph.h"

static void offer_edge(FibHeap* heap, const Vertex* from, const Edge* edge) {
  Vertex* target = edge->target;
  if (target->in_tree) {
    return;
  }
  if (target->heap_node == NULL) {
    target->heap_node = heap_insert(heap, edge->weight, target);
  } else if (edge->weight < target->cost) {
    heap_decrease(heap, target->heap_node, edge->weight);
  } else {
    return;
  }
  target->cost = edge->weight;
  target->attached = from;
}

static void find_spanning_tree(Graph* graph) {
  FibHeap heap = {NULL};
  graph->vertices[0]->heap_node = heap_insert(&heap, 0, graph->vertices[0]);
  for (Vertex* vertex = NULL; (vertex = heap_take_minimum(&heap)) != NULL;) {
    vertex->in_tree = true;
    vertex->heap_node = NULL;
    for (const Edge* edge = vertex->edges; edge != NULL; edge = edge->next) {
      offer_edge(&heap, vertex, edge);
    }
  }
}

int main(int argc, char** argv) {
  Argument arguments[] = {
      {"vertices", 1, 100000000, 0}, {"extra edges", 0, 1000000000, 0}, {"seed", 0, 1 << 30, 0}};
  read_arguments(argc, argv, arguments, 3);

  Graph graph = graph_create((uint32_t)arguments[0].value, (uint32_t)arguments[1].value,
                             (uint64_t)arguments[2].value);
  find_spanning_tree(&graph);
  uint64_t weight = 0;
  uint64_t checksum = 0;
  for (uint32_t i = 0; i < graph.count; ++i) {
    const Vertex* vertex = graph.vertices[i];
    weight += vertex->cost;
    checksum = checksum_add(checksum, vertex->attached != NULL ? vertex->attached->id : i);
  }
  printf("mst: weight %" PRIu64 " of %" PRIu32 " vertices\nchecksum %016" PRIx64 "\n", weight,
         graph.count, checksum);
  graph_destroy(&graph);
  return 0;
}
