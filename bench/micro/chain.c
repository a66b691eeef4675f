// The wrappers and the call sites, each a function that no optimisation merges, clones or skips.
#include "micro/chain.h"

#include <stdlib.h>

#define FRAME(name, inner)                                 \
  __attribute__((noipa)) static void* name(size_t bytes) { \
    void* p = inner(bytes);                                \
    __asm__ volatile("" : "+r"(p));                        \
    return p;                                              \
  }

#define SITES(depth, inner)      \
  FRAME(site_##depth##_0, inner) \
  FRAME(site_##depth##_1, inner) \
  FRAME(site_##depth##_2, inner) \
  FRAME(site_##depth##_3, inner) \
  FRAME(site_##depth##_4, inner) \
  FRAME(site_##depth##_5, inner) \
  FRAME(site_##depth##_6, inner) \
  FRAME(site_##depth##_7, inner)

#define NAMES(depth)                                                       \
  {site_##depth##_0, site_##depth##_1, site_##depth##_2, site_##depth##_3, \
   site_##depth##_4, site_##depth##_5, site_##depth##_6, site_##depth##_7}

FRAME(wrapper_1, malloc)
FRAME(wrapper_2, wrapper_1)
FRAME(wrapper_3, wrapper_2)
FRAME(wrapper_4, wrapper_3)
FRAME(wrapper_5, wrapper_4)
FRAME(wrapper_6, wrapper_5)
FRAME(wrapper_7, wrapper_6)

SITES(1, malloc)
SITES(2, wrapper_1)
SITES(3, wrapper_2)
SITES(4, wrapper_3)
SITES(5, wrapper_4)
SITES(6, wrapper_5)
SITES(7, wrapper_6)
SITES(8, wrapper_7)

FRAME(outside, malloc)

Allocate* const chain_sites[kDepths][kSites] = {NAMES(1), NAMES(2), NAMES(3), NAMES(4),
                                                NAMES(5), NAMES(6), NAMES(7), NAMES(8)};

Allocate* const outside_sites[kSites] = {outside, outside, outside, outside,
                                         outside, outside, outside, outside};
