// Call sites of malloc: eight for each depth at which a walk up the stack distinguishes them.
#pragma once

#include <stddef.h>

enum { kSites = 8, kDepths = 8 };

typedef void* Allocate(size_t bytes);

// The functions of chain_sites[d - 1] allocate through the same d - 1 wrappers: their allocations
// differ in the d-th return address, counted from malloc, and in none before it.
extern Allocate* const chain_sites[kDepths][kSites];

// The same function eight times. Training never calls it, so it is in no plan.
extern Allocate* const outside_sites[kSites];
