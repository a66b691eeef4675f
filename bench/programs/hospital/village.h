// A village, its hospital, and the tree of villages below it.
#pragma once

#include <stdint.h>

#include "common/rng.h"
#include "hospital/list.h"

enum { kVillagesPerDistrict = 4 };

typedef struct Hospital {
  int32_t free_staff;
  List waiting;
  List assess;
  List inside;
  List referred;  // to the hospital one level up, which collects them
} Hospital;

typedef struct Village {
  struct Village* children[kVillagesPerDistrict];
  struct Village* parent;
  Hospital hospital;
  Rng rng;
  int64_t treated;         // residents who are well again
  int64_t steps_of_care;   // that those residents took
  int64_t hospitals_seen;  // by those residents
} Village;

// A complete tree with `levels` levels below this village (0: only the village).
Village* village_create(Village* parent, int levels, uint64_t seed);
void village_destroy(Village* village);

// One step of time in this village and all below it.
void village_step(Village* village);
