// A target under libFuzzer, which sometimes starts from a synthetic input. Include it once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "fuzz/driver.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

// `NAME` is a Target.
#define HALO_LIBFUZZER_TARGET(NAME)                                                      \
  extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {              \
    NAME.run({data, size});                                                              \
    return 0;                                                                            \
  }                                                                                      \
  extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, \
                                            unsigned seed) {                             \
    halo::fuzz::Random random(seed);                                                     \
    if (size > 1 && random() % 16 != 0) return LLVMFuzzerMutate(data, size, max_size);   \
    const halo::fuzz::Input made = NAME.make(random);                                    \
    const size_t kept = std::min(made.size(), max_size);                                 \
    std::copy_n(made.begin(), kept, data);                                               \
    return kept;                                                                         \
  }
