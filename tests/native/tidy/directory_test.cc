// The directory against the definition: a list of leaves, each with the bits that were tested.
#include "tidy/directory.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>
#include <vector>

namespace halo::tidy {
namespace {

TEST(KeyRange, KnowsTheHighestBitInWhichKeysDiffer) {
  KeyRange keys;
  EXPECT_FALSE(keys.differs());
  keys.add(0b1010);
  EXPECT_FALSE(keys.differs());
  keys.add(0b1100);
  ASSERT_TRUE(keys.differs());
  EXPECT_EQ(keys.top_bit(), 2u);
  keys.add(uint64_t{1} << 63);
  EXPECT_EQ(keys.top_bit(), 63u);
}

// For each leaf the tests that lead to it.
using Tests = std::vector<std::pair<unsigned, bool>>;

TEST(Directory, FindsTheLeafWhoseTestsAKeyPasses) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    Metadata metadata;
    Directory directory(metadata);
    ASSERT_TRUE(directory.open(0));
    std::map<Leaf, Tests> leaves = {{0, {}}};
    for (int step = 0; step < 400; ++step) {
      auto at = leaves.begin();
      std::advance(at, random() % leaves.size());
      if (random() % 3 != 0) {
        const Leaf leaf = at->first;
        const auto bit = static_cast<unsigned>(random() % 64);
        bool is_tested = false;
        for (const auto& [tested, side] : at->second) is_tested |= tested == bit;
        if (is_tested) continue;
        Leaf other = 0;
        while (leaves.contains(other)) ++other;
        const bool side = random() % 2 != 0;
        ASSERT_TRUE(directory.split(leaf, other, bit, side));
        Tests tests = at->second;
        at->second.emplace_back(bit, side);
        tests.emplace_back(bit, !side);
        leaves[other] = tests;
      } else if (leaves.size() == 1) {
        EXPECT_FALSE(directory.remove(at->first));
      } else {
        const auto [leaf, tests] = *at;
        ASSERT_TRUE(directory.remove(leaf));
        leaves.erase(at);
        // Its sibling's keys are no longer tested for that bit.
        const unsigned bit = tests.back().first;
        for (auto& [other, its] : leaves) {
          if (its.size() < tests.size() || !std::equal(tests.begin(), tests.end() - 1, its.begin()))
            continue;
          if (its[tests.size() - 1].first == bit)
            its.erase(its.begin() + static_cast<ptrdiff_t>(tests.size() - 1));
        }
      }
      for (int probe = 0; probe < 20; ++probe) {
        const uint64_t key = random();
        for (const auto& [bit, side] : leaves.at(directory.find(key)))
          EXPECT_EQ((key >> bit & 1) != 0, side);
      }
    }
  }
}

TEST(Directory, VisitsTheNearestLeavesFirst) {
  Metadata metadata;
  Directory directory(metadata);
  ASSERT_TRUE(directory.open(0));
  // Leaves 0 to 3 for the values of the bits 1 and 0.
  ASSERT_TRUE(directory.split(0, 2, 1, false));
  ASSERT_TRUE(directory.split(0, 1, 0, false));
  ASSERT_TRUE(directory.split(2, 3, 0, false));
  std::vector<Leaf> visited;
  const auto note = [&](Leaf leaf) {
    visited.push_back(leaf);
    return false;
  };
  EXPECT_FALSE(directory.visit_near(3, 3, 4, note));
  EXPECT_EQ(visited, (std::vector<Leaf>{2, 1}));
  EXPECT_TRUE(directory.visit_near(3, 3, 4, [](Leaf) { return true; }));
}

}  // namespace
}  // namespace halo::tidy
