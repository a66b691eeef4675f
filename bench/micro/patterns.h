// Orders in which a program may allocate and free.
#pragma once

#include <stddef.h>

#include "micro/chain.h"

enum { kPatterns = 4, kBatch = 1000 };

// `run` allocates and frees about `pairs` objects at the eight sites.
typedef struct {
  const char* name;
  void (*run)(Allocate* const* sites, size_t bytes, long pairs);
} Pattern;

// pair: each object is freed immediately, the sites alternate. same: likewise, at one site. batch:
// kBatch objects, then freed in order. reverse: then freed in reverse.
extern const Pattern patterns[kPatterns];

// Allocates and writes kBatch objects at alternating sites.
void fill_batch(Allocate* const* sites, size_t bytes, void** batch);

// Frees them in order.
void free_batch(void** batch);
