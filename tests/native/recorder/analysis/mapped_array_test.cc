// Limited address space.
#include "base/mapped_array.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace halo::base {
namespace {

TEST(MappedArray, MapsLessIfAddressSpaceIsLimited) {
  MappedArray<uint64_t> array(1ULL << 50, 16);
  EXPECT_GE(array.size(), 16u);
  EXPECT_LT(array.size(), 1ULL << 44);
  array[array.size() - 1] = 1;
}

TEST(MappedArray, RefusesToBeEmpty) {
  EXPECT_THROW((MappedArray<uint64_t>(1ULL << 50, 1ULL << 50)), std::runtime_error);
}

}  // namespace
}  // namespace halo::base
