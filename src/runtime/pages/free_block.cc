// The process's secret for encoding links.
#include "runtime/pages/free_block.h"

#include "base/ranges/kernel_random.h"

namespace halo::runtime {
namespace {

// The inverse of an odd number modulo 2^64, by Newton's method: each round doubles the number of
// correct bits, initially 3.
uint64_t inverse_of(uint64_t factor) {
  uint64_t inverse = factor;
  for (int i = 0; i < 5; ++i) inverse *= 2 - factor * inverse;
  return inverse;
}

}  // namespace

constinit LinkSecret link_secret{0, 1, 1};

void draw_link_secret() {
  link_secret.mask = ranges::kernel_random(0);
  link_secret.factor = ranges::kernel_random(1) | 1;
  link_secret.inverse = inverse_of(link_secret.factor);
}

}  // namespace halo::runtime
