// A small seeded random number generator (splitmix64), so that a run depends on its input only.
#pragma once

#include <stdint.h>

typedef struct Rng {
  uint64_t state;
} Rng;

static inline uint64_t mix64(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

static inline uint64_t rng_next(Rng* rng) {
  rng->state += 0x9e3779b97f4a7c15u;
  return mix64(rng->state);
}

// A whole number in [0, bound).
static inline uint32_t rng_below(Rng* rng, uint32_t bound) {
  return (uint32_t)(((rng_next(rng) >> 32) * bound) >> 32);
}

// A fraction in [0, 1).
static inline double rng_unit(Rng* rng) { return (double)(rng_next(rng) >> 11) * 0x1.0p-53; }
