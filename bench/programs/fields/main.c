// fields COUNT: objects of 31 fields, one of which says with which others an object is used.
//
// For the time that `halo study hints` takes. Groups of objects are used in turn; objects are
// allocated without regard to them. Prints a checksum.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/args.h"
#include "common/rng.h"

enum { GROUP = 1000, ROUNDS = 2 };

#define TEN(EACH, NAME) \
  EACH(NAME##0)         \
  EACH(NAME##1)         \
  EACH(NAME##2)         \
  EACH(NAME##3) EACH(NAME##4) EACH(NAME##5) EACH(NAME##6) EACH(NAME##7) EACH(NAME##8) EACH(NAME##9)
#define FIELDS(EACH) TEN(EACH, a) TEN(EACH, b) TEN(EACH, c)

typedef struct Record {
  uint32_t group;
#define DECLARE(NAME) uint32_t NAME;
  FIELDS(DECLARE)
} Record;

static Record* make_record(uint32_t group, Rng* random) {
  Record* const record = malloc(sizeof *record);
  if (record == NULL) exit(1);
  record->group = group;
#define FILL(NAME) record->NAME = (uint32_t)rng_next(random);
  FIELDS(FILL)
  return record;
}

int main(int argc, char** argv) {
  Argument count = {"COUNT", GROUP, 10000000, 0};
  read_arguments(argc, argv, &count, 1);
  const size_t objects = (size_t)count.value, groups = objects / GROUP;
  Record** const records = calloc(objects, sizeof *records);
  size_t* const filled = calloc(groups, sizeof *filled);
  if (records == NULL || filled == NULL) return 1;
  Rng random = {1};
  // Each group has a part of the array, which is filled in random order of the groups.
  for (size_t made = 0; made < groups * GROUP;) {
    size_t group = rng_next(&random) % groups;
    while (filled[group] == GROUP) group = (group + 1) % groups;
    records[group * GROUP + filled[group]++] = make_record((uint32_t)group, &random);
    ++made;
  }
  uint64_t sum = 0;
  for (int round = 0; round < ROUNDS; ++round)
    for (size_t at = 0; at < groups * GROUP; ++at) sum += records[at]->a0 ^ records[at]->group;
  printf("fields: %zu objects\nchecksum %016" PRIx64 "\n", groups * GROUP, sum);
  for (size_t at = 0; at < groups * GROUP; ++at) free(records[at]);
  free(filled);
  free(records);
  return 0;
}
