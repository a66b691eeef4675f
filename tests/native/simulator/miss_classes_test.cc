// Classes of misses against a slow reference, and on patterns whose counts are known.
#include "simulator/miss_classes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <random>
#include <set>
#include <vector>

#include "simulator/hierarchy.h"

namespace halo::simulator {
namespace {

constexpr uint32_t kLine = 64;
constexpr Shape k48KiB = {64, 12}, kAlpha21264 = {512, 2};

// A cache as lists of line numbers, the most recently used first.
class SlowCache {
 public:
  explicit SlowCache(Shape shape) : shape_(shape), sets_(shape.sets) {}

  bool touch(uint64_t line) {
    std::list<uint64_t>& set = sets_[line % shape_.sets];
    const auto at = std::find(set.begin(), set.end(), line);
    const bool hit = at != set.end();
    if (hit) set.erase(at);
    set.push_front(line);
    if (set.size() > shape_.ways) set.pop_back();
    return hit;
  }

 private:
  Shape shape_;
  std::vector<std::list<uint64_t>> sets_;
};

// A hierarchy of one level with a classifier, and all counts.
struct Classified {
  explicit Classified(Shape shape) : hierarchy(machine_of(shape)), classifier(shape, kLine) {}

  static Machine machine_of(Shape shape) {
    Machine machine;
    machine.caches = {{"L1D", shape, 0}};
    machine.tlbs = {{"DTLB", {16, 4}, 0}};
    machine.next_line = machine.streams = false;
    return machine;
  }
  MissClass access(uint64_t address, uint32_t size = 8) {
    const bool missed = hierarchy.access(address, size, false).cache != 0;
    misses += missed;
    const MissClass found = classifier.access(address, size, missed);
    if (found != MissClass::kHit) ++counts[size_t(found)];
    return found;
  }
  uint64_t of(MissClass one) const { return counts[size_t(one)]; }

  Hierarchy hierarchy;
  MissClassifier classifier;
  ClassCounts counts{};
  uint64_t misses = 0;
};

TEST(MissClassifier, AgreesWithASlowReference) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 40; ++round) {
    const Shape shape = {uint32_t(1 + random() % 20), uint32_t(1 + random() % 8)};
    Classified fast(shape);
    SlowCache real(shape), shadow({1, shape.sets * shape.ways});
    std::set<uint64_t> seen;
    const uint64_t lines = 1 + random() % 300, base = random() % 2 << 40;
    uint64_t shadow_misses = 0;
    for (int step = 0; step < 3000; ++step) {
      const uint64_t address = base + random() % (lines * kLine);
      const uint32_t size = 1 + uint32_t(random() % 16);
      bool missed = false, shadowed = false, fresh = false;
      std::vector<uint64_t> touched = {address / kLine};
      if ((address + size - 1) / kLine != touched[0]) touched.push_back(touched[0] + 1);
      for (const uint64_t line : touched) {
        fresh |= seen.insert(line).second;
        missed |= !real.touch(line);
        const bool lacked = !shadow.touch(line);
        shadowed |= lacked;
        shadow_misses += lacked;
      }
      const MissClass expected = missed     ? fresh      ? MissClass::kCompulsory
                                              : shadowed ? MissClass::kCapacity
                                                         : MissClass::kConflict
                                 : shadowed ? MissClass::kAnti
                                            : MissClass::kHit;
      ASSERT_EQ(fast.access(address, size), expected);
    }
    EXPECT_EQ(fast.classifier.shadow_misses(), shadow_misses);
    EXPECT_EQ(fast.misses, fast.of(MissClass::kCompulsory) + fast.of(MissClass::kCapacity) +
                               fast.of(MissClass::kConflict));
  }
}

ClassCounts rounds(Shape shape, uint64_t lines, uint64_t step, int count) {
  Classified found(shape);
  for (int round = 0; round < count; ++round)
    for (uint64_t line = 0; line < lines; ++line) found.access(0x10000000 + line * step);
  return found.counts;
}

TEST(MissClassifier, OneLineTooManyInOneSetConflicts) {
  EXPECT_EQ(rounds(k48KiB, 13, 4096, 1000), (ClassCounts{13, 0, 12987, 0}));
  EXPECT_EQ(rounds(k48KiB, 12, 4096, 1000), (ClassCounts{12, 0, 0, 0}));
  EXPECT_EQ(rounds(kAlpha21264, 3, 32768, 100), (ClassCounts{3, 0, 297, 0}));
}

TEST(MissClassifier, OneLineMoreThanTheCacheIsACapacityProblem) {
  EXPECT_EQ(rounds(k48KiB, 769, kLine, 10), (ClassCounts{769, 117, 0, 6804}));
}

TEST(MissClassifier, HotLinesOfPageSizedBlocksConflictUntilTheyAreSpread) {
  EXPECT_EQ(rounds(k48KiB, 400, 4096, 5), (ClassCounts{400, 0, 1600, 0}));
  EXPECT_EQ(rounds(k48KiB, 400, 4096 + kLine, 5), (ClassCounts{400, 0, 0, 0}));
  const Shape k32KiB = {64, 8};
  EXPECT_EQ(rounds(k32KiB, 600, 4096, 5), (ClassCounts{600, 2400, 0, 0}));
}

TEST(RecencyList, VisitsTheLinesUsedSince) {
  RecencyList list(4);
  for (const uint32_t name : {7u, 8u, 9u, 8u, 10u}) list.use(name);
  std::vector<uint32_t> newer;
  list.for_each_newer(7, [&](uint32_t name) { newer.push_back(name); });
  EXPECT_EQ(newer, (std::vector<uint32_t>{10, 8, 9}));
  EXPECT_EQ(list.use(11), RecencyList::Found::kNever);
  EXPECT_FALSE(list.holds(7));
  EXPECT_EQ(list.use(7), RecencyList::Found::kDropped);
  EXPECT_FALSE(list.holds(9));
}

}  // namespace
}  // namespace halo::simulator
