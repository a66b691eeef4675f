/* Ages the heap of the calling process: allocates objects as the program would have, and frees a
 * part of them (littering; van Kempen and Berger, "Reconsidering 'Reconsidering Custom Memory
 * Allocation'", section "Littering").
 *
 * Programs link with -lhalo-litter and call halo_litter at their start. Unchanged programs run with
 * libhalo-litterer.so preloaded, or under `halo litter` (docs/littering.md). */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct halo_litter_settings {
  const char* data;  /* path of the detector's output */
  double occupancy;  /* fraction of the objects that stay: 0 to 1; the study's default is 0.95 */
  double multiplier; /* objects allocated, in multiples of the maximum of live objects: 0 to 1e6;
                        0: none, the data is not read; the study's default is 20 */
  uint64_t seed;     /* the same seed, data and settings: the same requests in the same order */
  int shuffle;       /* 1: random objects are freed, in random order; 0: the last ones are freed,
                        from the last on */
  int groups;        /* 1: objects of a group are allocated in it, which needs the runtime preloaded
                        and data detected under that plan; 0: all objects come from malloc */
};

struct halo_litter_report {
  uint64_t objects;    /* allocated */
  uint64_t kept;       /* of these, not freed */
  uint64_t grouped;    /* allocated in a group of the plan */
  uint64_t bytes;      /* requested, of all objects */
  uint64_t kept_bytes; /* requested, of those that stay */
  uint64_t own_bytes;  /* memory of the list of objects while littering; it is freed afterwards */
  double seconds;
  char problem[512]; /* a sentence if littering failed, else empty */
};

enum halo_litter_outcome {
  HALO_LITTERED = 0,
  HALO_NOT_LITTERED = 1,     /* nothing was allocated: settings, data, or too little memory */
  HALO_LITTERED_IN_PART = 2, /* the heap refused memory; the objects to free are freed */
};

/* Calls only malloc and free, from the calling thread. Keeps errno. */
enum halo_litter_outcome halo_litter(const struct halo_litter_settings* settings,
                                     struct halo_litter_report* report);

/* A heap of the program's own, such as a context of Tidy. */
struct halo_litter_heap {
  /* An object of `size` bytes, NULL if memory is refused. `random` has 64 bits that depend on the
     seed and on the number of the object; they can choose a hint. */
  void* (*allocate)(void* state, size_t size, uint64_t random);
  void (*release)(void* state, void* object);
  void* state;
};

/* Ages that heap instead of malloc's: calls only its two functions. `groups` must be 0. */
enum halo_litter_outcome halo_litter_in(const struct halo_litter_settings* settings,
                                        const struct halo_litter_heap* heap,
                                        struct halo_litter_report* report);

#ifdef __cplusplus
}
#endif
