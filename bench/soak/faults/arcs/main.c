// arcs: sends flow over the cheapest open arc of a network, again and again, after Miucin,
// section 2.3.1 (mcf).
#include <inttypes.h>
#include <stdio.h>

#include "arcs/network.h"
#include "arcs/pricing.h"
#include "common/args.h"
#include "common/checksum.h"

enum { kArcsPerNode = 8, kArcsPerOpen = 64 };

// What left the tail makes its other arcs dearer, by its potential.
static void send_flow(Arc* arc) {
  if (arc->flow < arc->capacity) {
    ++arc->flow;
  }
  ++arc->times_used;
  --arc->tail->potential;
  for (Arc* other = arc->tail->first_out; other != NULL; other = other->next_out) {
    other->cost += 1;
  }
}

int main(int argc, char** argv) {
  Argument arguments[] = {{"arcs", kArcsPerOpen * 2, 100000000, 400000},
                          {"rounds", 0, 1000000, 1000},
                          {"seed", 0, 1 << 30, 1}};
  read_arguments_if_any(argc, argv, arguments, 3);
  const uint32_t arcs = (uint32_t)arguments[0].value;
  const long rounds = arguments[1].value;

  Network network = network_create(arcs / kArcsPerNode, arcs, (uint64_t)arguments[2].value);
  open_arcs(&network, kArcsPerOpen);
  uint64_t checksum = 0;
  for (long round = 0; round < rounds; ++round) {
    Arc* arc = cheapest_arc(&network);
    checksum = checksum_add(checksum, (uint64_t)arc->number);
    send_flow(arc);
    pass_on(&network, arc);
  }
  for (uint32_t i = 0; i < network.arc_count; ++i) {
    checksum = checksum_add(checksum, (uint64_t)network.arcs[i].flow);
  }
  network_free(&network);
  printf("arcs: %" PRIu32 " arcs, %ld rounds\nchecksum %016" PRIx64 "\n", arcs, rounds, checksum);
  return 0;
}
