// lists: simulates many linked lists that grow at the end and are filtered at every step.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/args.h"
#include "common/checksum.h"
#include "common/memory.h"
#include "lists/list.h"

// Up to four jobs arrive on each list, so that a list soon holds about twenty.
static void simulate(List* lists, uint32_t count, long steps, Rng* rng, Totals* totals) {
  for (long step = 0; step < steps; ++step) {
    for (uint32_t i = 0; i < count; ++i) {
      for (uint32_t arriving = rng_below(rng, 5); arriving > 0; --arriving) {
        list_append(&lists[i], rng, totals);
      }
      list_step(&lists[i], totals);
    }
  }
}

int main(int argc, char** argv) {
  Argument arguments[] = {
      {"lists", 1, 100000000, 0}, {"steps", 0, 1000000, 0}, {"seed", 0, 1 << 30, 0}};
  read_arguments(argc, argv, arguments, 3);
  const uint32_t count = (uint32_t)arguments[0].value;

  Rng rng = {(uint64_t)arguments[2].value};
  List* lists = require_memory(malloc(count * sizeof *lists));
  for (uint32_t i = 0; i < count; ++i) {
    list_init(&lists[i]);
  }
  Totals totals = {0, 0, 0};
  simulate(lists, count, arguments[1].value, &rng, &totals);

  uint64_t checksum = totals.work;
  for (uint32_t i = 0; i < count; ++i) {
    checksum = checksum_add(checksum, lists[i].length);
    list_free(&lists[i]);
  }
  free(lists);
  printf("lists: %" PRIu64 " jobs, %" PRIu64 " finished, work %" PRIu64 "\nchecksum %016" PRIx64
         "\n",
         totals.appended, totals.finished, totals.work, checksum);
  return 0;
}
