// Building and tearing down the tree of villages.
#include "hospital/village.h"

#include <stdlib.h>

#include "common/memory.h"

Village* village_create(Village* parent, int levels, uint64_t seed) {
  Village* village = require_memory(calloc(1, sizeof *village));
  village->parent = parent;
  village->rng.state = mix64(seed);
  village->hospital.free_staff = 1 << levels;
  if (levels > 0) {
    for (int i = 0; i < kVillagesPerDistrict; ++i) {
      const uint64_t child_seed = seed * kVillagesPerDistrict + (uint64_t)i + 1;
      village->children[i] = village_create(village, levels - 1, child_seed);
    }
  }
  return village;
}

void village_destroy(Village* village) {
  if (village == NULL) {
    return;
  }
  for (int i = 0; i < kVillagesPerDistrict; ++i) {
    village_destroy(village->children[i]);
  }
  list_destroy(&village->hospital.waiting);
  list_destroy(&village->hospital.assess);
  list_destroy(&village->hospital.inside);
  list_destroy(&village->hospital.referred);
  free(village);
}
