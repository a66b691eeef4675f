// Colours of the frames of pages.
#include "studies/pollution/corun/frames.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

namespace halo::corun {
namespace {

constexpr Colours kColours = {256, 8, 40};

TEST(Frames, ConsecutiveOpenPagesHaveAllColours) {
  uint32_t serial = 0;
  Frames frames(kColours, 1024, 1, serial);
  std::set<uint32_t> colours, numbers;
  for (uint32_t page = 100; page < 100 + 256; ++page) {
    const uint32_t frame = frames.frame_of(page, 5000 + page, false);
    EXPECT_EQ(frame, frames.frame_of(page, 5000 + page, false));
    colours.insert(frame % 256);
    numbers.insert(frame);
  }
  EXPECT_EQ(256u, colours.size());
  EXPECT_EQ(256u, numbers.size());
}

TEST(Frames, OpenColoursFollowFromTheAddressAndTheSeed) {
  uint32_t serial = 0;
  const auto order = [&](uint64_t seed) {
    Frames frames(kColours, 1024, seed, serial);
    std::vector<uint32_t> found;
    for (uint32_t page = 0; page < 512; ++page)
      found.push_back(frames.frame_of(page, page, false) % 256);
    return found;
  };
  const auto one = order(1);
  EXPECT_EQ(one, order(1));
  EXPECT_NE(one, order(2));
  for (uint32_t page = 0; page < 256; ++page) EXPECT_EQ(one[page], one[page + 256]);
}

TEST(Frames, ConfinedPagesTakeTurnsInTheRange) {
  uint32_t serial = 0;
  Frames frames(kColours, 1024, 1, serial);
  for (uint32_t page = 0; page < 100; ++page)
    EXPECT_EQ(8 + page % 32, frames.frame_of(page * 7, 3 * page, true) % 256);
  EXPECT_NE(frames.frame_of(7, 3, true), frames.frame_of(7, 3, false))
      << "open objects of the page are in another frame";
}

TEST(Frames, AreNeverSharedByPrograms) {
  uint32_t serial = 0;
  Frames one(kColours, 64, 1, serial), other(kColours, 64, 1, serial);
  std::set<uint32_t> numbers;
  for (int run = 0; run < 3; ++run) {
    for (uint32_t page = 0; page < 64; ++page) {
      EXPECT_TRUE(numbers.insert(one.frame_of(page, page, false)).second);
      EXPECT_TRUE(numbers.insert(other.frame_of(page, page, page % 2 == 0)).second);
    }
    one.renew();
    other.renew();
  }
}

}  // namespace
}  // namespace halo::corun
