// Keys against the definition of the Morton order, bit by bit.
#include "tidy/keys.h"

#include <gtest/gtest.h>

#include <random>

namespace halo::tidy {
namespace {

uint64_t interleave(const unsigned* hint, unsigned dimensions) {
  uint64_t key = 0;
  const unsigned bits = dimensions == 1 ? 32 : 64 / dimensions;
  for (unsigned bit = 0; bit < bits; ++bit)
    for (unsigned at = 0; at < dimensions; ++at)
      if (bit * dimensions + at < 64)
        key |= uint64_t{hint[at] >> bit & 1} << (bit * dimensions + at);
  return key;
}

TEST(Keys, InterleaveTheBitsOfTheElements) {
  std::mt19937 random(1);
  for (unsigned dimensions = 1; dimensions <= kMaxDimensions; ++dimensions) {
    const KeyMaker keys(dimensions, {});
    for (int i = 0; i < 1000; ++i) {
      const unsigned hint[] = {unsigned(random()), unsigned(random()), unsigned(random()),
                               unsigned(random())};
      EXPECT_EQ(keys.key(hint), interleave(hint, dimensions)) << dimensions;
    }
  }
}

TEST(Keys, CountModuloTheSizes) {
  const KeyMaker keys(2, {10, 0, 0, 0});
  const unsigned large[] = {25, 77}, small[] = {5, 77};
  EXPECT_EQ(keys.key(large), keys.key(small));
}

}  // namespace
}  // namespace halo::tidy
