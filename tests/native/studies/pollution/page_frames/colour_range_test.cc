#include "studies/pollution/page_frames/colour_range.h"

#include <gtest/gtest.h>

namespace halo::frames {
namespace {

TEST(ColourRange, IsReadFromText) {
  const ColourRange range = ColourRange::parse("32-63/256");
  EXPECT_TRUE(range.is_valid());
  EXPECT_EQ(range.count(), 32u);
  EXPECT_TRUE(range.contains(256 + 32));
  EXPECT_TRUE(range.contains(512 + 63));
  EXPECT_FALSE(range.contains(64));
  EXPECT_FALSE(range.contains(31));
}

TEST(ColourRange, OthersAreNotValid) {
  for (const char* text : {"", "1", "1-2", "1-2/", "1-2/3", "5-4/8", "6-4/8", "0-8/8", "0-7/8 ",
                           "-1-2/8", "0-1/8192", "0-1/0", "a-b/c", "0-1/4294967296"})
    EXPECT_FALSE(ColourRange::parse(text).is_valid()) << text;
}

}  // namespace
}  // namespace halo::frames
