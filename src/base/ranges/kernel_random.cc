// Mixes the index with the 16 bytes of AT_RANDOM.
#include "base/ranges/kernel_random.h"

#include <sys/auxv.h>

#include <cstring>

namespace halo::ranges {
namespace {

// The finalizer of splitmix64.
uint64_t scrambled(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

}  // namespace

uint64_t kernel_random(uint64_t which) {
  uint64_t seed[2]{};
  const auto* bytes = reinterpret_cast<const void*>(getauxval(AT_RANDOM));
  if (bytes != nullptr) std::memcpy(seed, bytes, sizeof seed);
  return scrambled(scrambled(seed[0] + which * 0x9E3779B97F4A7C15ull) + seed[1]);
}

}  // namespace halo::ranges
