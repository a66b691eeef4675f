/* Ages the heap of the calling process: allocates objects as the program would have, and frees a
 * part of them (littering; van Kempen and Berger, "Reconsidering 'Reconsidering Custom Memory
 * Allocation'", section "Littering").
 *
 * Programs link with -lhalo-litter and call halo_litter before they begin; those that cannot be
 * changed are run with liblitterer.so preloaded, or by `halo litter` (docs/littering.md). */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct halo_litter_settings {
  const char* data;  /* path of the detector's output */
  double occupancy;  /* fraction of the objects that stay: 0 to 1; the study's default is 0.95 */
  double multiplier; /* objects allocated, in multiples of the most that were alive at once: 0 to
                        1e6; 0: none, the data is not read; the study's default is 20 */
  uint64_t seed;     /* the same seed, data and settings: the same requests in the same order */
  int shuffle;       /* 1: those that go lie anywhere, and go in any order; 0: the last go, from the
                        last on */
  int groups;        /* 1: what a plan puts into a group goes there, the runtime being preloaded and
                        the data detected under that plan; 0: all goes through malloc */
};

struct halo_litter_report {
  uint64_t objects;    /* allocated */
  uint64_t kept;       /* of these, not freed */
  uint64_t grouped;    /* allocated in a group of the plan */
  uint64_t bytes;      /* requested, of all objects */
  uint64_t kept_bytes; /* requested, of those that stay */
  uint64_t own_bytes;  /* our own memory for the list of objects while littering; all of it is given
                          back */
  double seconds;
  char problem[512]; /* a sentence where it did not go well, else empty */
};

enum halo_litter_outcome {
  HALO_LITTERED = 0,
  HALO_NOT_LITTERED = 1,     /* nothing was allocated: settings, data, or too little memory */
  HALO_LITTERED_IN_PART = 2, /* malloc refused memory on the way; what was to go is freed */
};

/* Calls malloc and free alone, from the calling thread. Keeps errno. */
enum halo_litter_outcome halo_litter(const struct halo_litter_settings* settings,
                                     struct halo_litter_report* report);

#ifdef __cplusplus
}
#endif
