// Folds values, never addresses, into the number that a workload prints.
#pragma once

#include <stdint.h>

static inline uint64_t checksum_add(uint64_t checksum, uint64_t value) {
  return (checksum ^ value) * 0x100000001b3u + (checksum >> 47);
}
