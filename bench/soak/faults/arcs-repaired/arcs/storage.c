// The memory of a network.
#include "arcs/network.h"
#include "common/memory.h"

Network network_allocate(uint32_t nodes, uint32_t arcs) {
  return (Network){.arcs = require_memory(calloc(arcs, sizeof(Arc))),
                   .states = require_memory(calloc(arcs, sizeof(int32_t))),
                   .nodes = require_memory(calloc(nodes, sizeof(Node))),
                   .arc_count = arcs,
                   .node_count = nodes};
}

void network_free(Network* network) {
  free(network->arcs);
  free(network->states);
  free(network->nodes);
}
