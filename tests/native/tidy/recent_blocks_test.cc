// Blocks that are kept for their keys: which requests get them, and that none is served twice.
#include "tidy/recent_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <utility>

namespace halo::tidy {
namespace {

using enum RecentBlocks::Freed;
constexpr Place kNone = RecentBlocks::kNoPlace;
constexpr uint64_t kKey = 7;

// Allocates twice, since a key is noted the second time.
void note(RecentBlocks& recent, Place place, uint32_t bytes) {
  EXPECT_EQ(recent.add(place + 1024, kKey, bytes), kNone);
  EXPECT_EQ(recent.add(place, kKey, bytes), kNone);
}

TEST(RecentBlocks, ServeTheSameKeyAndSizeOnce) {
  RecentBlocks recent;
  note(recent, 4096, 32);
  EXPECT_EQ(recent.take(kKey, 32), kNone);
  EXPECT_EQ(recent.put(4096), kKept);
  EXPECT_EQ(recent.take(kKey + 1, 32), kNone);
  EXPECT_EQ(recent.take(kKey, 24), kNone);
  EXPECT_EQ(recent.take(kKey, 32), 4096u);
  EXPECT_EQ(recent.take(kKey, 32), kNone);
  EXPECT_EQ(recent.put(4096), kKept);
  EXPECT_EQ(recent.take(kKey, 32), 4096u);
}

TEST(RecentBlocks, IgnoreSecondFreesAndOtherBlocks) {
  RecentBlocks recent;
  note(recent, 4096, 32);
  EXPECT_EQ(recent.put(4104), kUnknown);
  EXPECT_EQ(recent.put(5120), kUnknown) << "its key came for the first time";
  EXPECT_EQ(recent.put(4096), kKept);
  EXPECT_EQ(recent.put(4096), kTwice);
}

TEST(RecentBlocks, GiveUpEveryBlockInOneCycle) {
  RecentBlocks recent;
  note(recent, 4096, 32);
  recent.put(4096);
  std::multiset<Place> dropped;
  for (uint32_t at = 0; at < RecentBlocks::kEntries; ++at) dropped.insert(recent.drop_next());
  EXPECT_EQ(dropped.count(4096), 1u);
  EXPECT_EQ(dropped.count(kNone), RecentBlocks::kEntries - 1);
  EXPECT_EQ(recent.take(kKey, 32), kNone);
  EXPECT_EQ(recent.put(4096), kUnknown);
}

// Against a heap that is a set of places: a block is used by the program, kept, or free.
TEST(RecentBlocks, NeverServeABlockThatIsUsedOrFree) {
  RecentBlocks recent;
  std::mt19937 random(3);
  std::map<Place, std::pair<uint64_t, uint32_t>> used;
  std::set<Place> kept_blocks, free;
  for (Place place = 0; place < 400; ++place) free.insert(place * 32);
  const auto release = [&](Place place) {
    if (place == kNone) return;
    ASSERT_EQ(kept_blocks.erase(place), 1u);
    free.insert(place);
  };
  unsigned served = 0;
  for (int round = 0; round < 1'000'000; ++round) {
    if (random() % 2 == 0 && !free.empty()) {
      const uint64_t wanted = random() % 30;
      const uint32_t bytes = random() % 2 == 0 ? 16 : 32;
      Place place = recent.take(wanted, bytes);
      if (place != kNone) {
        ASSERT_EQ(kept_blocks.erase(place), 1u);
        ++served;
      } else {
        place = *std::next(free.begin(),
                           static_cast<long>(random() % std::min<size_t>(free.size(), 9)));
        free.erase(place);
        release(recent.add(place, wanted, bytes));
      }
      ASSERT_TRUE(used.emplace(place, std::pair(wanted, bytes)).second);
    } else if (!used.empty()) {
      auto found = used.lower_bound(32 * (random() % 400));
      if (found == used.end()) found = used.begin();
      const Place place = found->first;
      used.erase(found);
      const auto freed = recent.put(place);
      ASSERT_NE(freed, kTwice);
      if (freed == kKept) {
        kept_blocks.insert(place);
      } else {
        free.insert(place);
        release(recent.drop_next());
      }
    }
    ASSERT_LE(kept_blocks.size(), RecentBlocks::kEntries);
  }
  EXPECT_GT(served, 10'000u);
}

}  // namespace
}  // namespace halo::tidy
