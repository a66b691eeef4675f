// The secret of links.
#include "runtime/free_block.h"

#include <sys/auxv.h>

#include <cstring>

namespace halo::runtime {
namespace {

// The finalizer of splitmix64: what the kernel gave cannot be told from the result.
std::uint64_t scrambled(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

// Of an odd number, modulo 2^64: each round doubles the bits that are right, of which 3 are.
std::uint64_t inverse_of(std::uint64_t factor) {
  std::uint64_t inverse = factor;
  for (int i = 0; i < 5; ++i) inverse *= 2 - factor * inverse;
  return inverse;
}

}  // namespace

constinit LinkSecret link_secret{0, 1, 1};

void draw_link_secret() {
  std::uint64_t random[2]{};
  const auto* given = reinterpret_cast<const void*>(getauxval(AT_RANDOM));
  if (given != nullptr) std::memcpy(random, given, sizeof random);
  link_secret.mask = scrambled(random[0] + random[1]);
  link_secret.factor = scrambled(random[0] ^ ~random[1]) | 1;
  link_secret.inverse = inverse_of(link_secret.factor);
}

}  // namespace halo::runtime
