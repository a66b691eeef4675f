// The table of free sizes against a set of pairs.
#include "tidy/free_sizes.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <utility>

namespace halo::tidy {
namespace {

using Sizes = FreeSizes<Untraced>;

TEST(FreeSizes, FindsTheSmallestClassThatAnyPageHas) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    Metadata metadata;
    Sizes sizes(metadata);
    const auto pages = uint32_t(1 + random() % 300);
    for (uint32_t page = 0; page < pages; ++page) ASSERT_EQ(sizes.add_page(), page);
    std::set<std::pair<unsigned, uint32_t>> kept;  // classes of pages
    for (int step = 0; step < 5000; ++step) {
      const auto page = uint32_t(random() % pages);
      const auto granules = uint32_t(1 + random() % 80);
      const unsigned size_class = free_class_of(granules);
      if (random() % 100 == 0) {
        sizes.clear(page);
        std::erase_if(kept, [&](const auto& one) { return one.second == page; });
      } else if (random() % 3 == 0) {
        sizes.add(page, granules);
        kept.insert({size_class, page});
      } else {
        sizes.remove(page, size_class);
        kept.erase({size_class, page});
      }
      EXPECT_EQ(sizes.has(page, size_class), kept.contains({size_class, page}));
      const auto smallest = unsigned(random() % kFreeClasses);
      const auto expected = kept.lower_bound({smallest, 0});
      const Sizes::Found found = sizes.find(smallest);
      if (expected == kept.end()) {
        ASSERT_EQ(found.page, Sizes::kNone);
      } else {
        ASSERT_EQ(found.size_class, expected->first);
        ASSERT_TRUE(kept.contains({found.size_class, found.page}));
      }
    }
  }
}

TEST(FreeSizes, SearchesOtherPagesEachTime) {
  Metadata metadata;
  Sizes sizes(metadata);
  for (uint32_t page = 0; page < 200; ++page) {
    ASSERT_EQ(sizes.add_page(), page);
    sizes.add(page, 3);
  }
  std::set<uint32_t> found;
  for (int i = 0; i < 200; ++i) found.insert(sizes.find(0).page);
  EXPECT_EQ(found.size(), 200u);
}

}  // namespace
}  // namespace halo::tidy
