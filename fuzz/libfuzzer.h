// A target under libFuzzer, which sometimes starts from a synthetic input. Include it once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "fuzz/driver.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

// `NAME` is a Target.
#define HALO_LIBFUZZER_TARGET(NAME)                                                     \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {   \
    NAME.run({data, size});                                                             \
    return 0;                                                                           \
  }                                                                                     \
  extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,  \
                                                 std::size_t max_size, unsigned seed) { \
    halo::fuzz::Random random(seed);                                                    \
    if (size > 1 && random() % 16 != 0) return LLVMFuzzerMutate(data, size, max_size);  \
    const halo::fuzz::Input made = NAME.make(random);                                   \
    const std::size_t kept = std::min(made.size(), max_size);                           \
    std::copy_n(made.begin(), kept, data);                                              \
    return kept;                                                                        \
  }
