// The arithmetic of cursors: whether they have a place, and how much room is behind it.
#include <gtest/gtest.h>

#include "tracing/library/local.h"

namespace halo::logging {
namespace {

constexpr uint64_t kSegment = 5 * kSegmentBytes;

TEST(Segment, ItsRecordsEndExactlyAtItsEnd) {
  uint64_t cursor = kSegment + kRecordsBegin;
  uint64_t places = 0;
  for (; has_place(cursor); cursor += sizeof(Logged)) ++places;
  EXPECT_EQ(cursor, kSegment + kSegmentBytes);
  EXPECT_EQ(places, kRecords);
}

TEST(Segment, ACursorThatHasRunPastItHasNoPlace) {
  EXPECT_FALSE(has_place(0));
  // The maximum number that nested handlers may reserve without success.
  for (uint64_t extra = 0; extra < 2 * 72; ++extra)
    EXPECT_FALSE(has_place(kSegment + extra * sizeof(Logged)));
}

TEST(Segment, RoomIsCountedToItsEnd) {
  EXPECT_EQ(room_behind(kSegment + kRecordsBegin), kRecords);
  EXPECT_EQ(room_behind(kSegment + kSegmentBytes - sizeof(Logged)), 1u);
}

}  // namespace
}  // namespace halo::logging
