// Makes a random flow network.
#include "arcs/network.h"

#include "common/rng.h"

enum { kMaxCost = 1000, kMaxPotential = 500, kMaxCapacity = 100 };

static void make_arc(Network* network, Rng* rng, uint32_t number) {
  Node* tail = &network->nodes[rng_below(rng, network->node_count)];
  Node* head = &network->nodes[rng_below(rng, network->node_count)];
  Arc* arc = &network->arcs[number];
  arc->cost = rng_below(rng, kMaxCost);
  arc->tail = tail;
  arc->head = head;
  arc->capacity = 1 + rng_below(rng, kMaxCapacity);
  arc->next_out = tail->first_out;
  arc->number = (int32_t)number;
  tail->first_out = arc;
}

Network network_create(uint32_t nodes, uint32_t arcs, uint64_t seed) {
  Rng rng = {mix64(seed)};
  Network network = network_allocate(nodes, arcs);
  for (uint32_t i = 0; i < nodes; ++i) {
    network.nodes[i].potential = rng_below(&rng, kMaxPotential);
  }
  for (uint32_t i = 0; i < arcs; ++i) {
    make_arc(&network, &rng, i);
  }
  return network;
}
