// Finds the cheapest open arc, for which every arc's state is read.
#include "arcs/pricing.h"

#include <stddef.h>

void open_arcs(Network* network, uint32_t spacing) {
  for (uint32_t i = 0; i < network->arc_count; i += spacing) {
    network->arcs[i].state = kOpen;
  }
}

Arc* cheapest_arc(const Network* network) {
  Arc* best = NULL;
  int64_t least = INT64_MAX;
  for (uint32_t i = 0; i < network->arc_count; ++i) {
    if (network->arcs[i].state == kOpen) {
      Arc* arc = &network->arcs[i];
      const int64_t reduced = arc->cost - arc->tail->potential + arc->head->potential;
      if (reduced < least) {
        least = reduced;
        best = arc;
      }
    }
  }
  return best;
}

void pass_on(Network* network, Arc* arc) {
  uint32_t next = (uint32_t)(arc - network->arcs);
  network->arcs[next].state = kClosed;
  do {
    next = (next + 1) % network->arc_count;
  } while (network->arcs[next].state == kOpen);
  network->arcs[next].state = kOpen;
}
