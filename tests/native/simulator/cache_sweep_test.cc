// The sweep over caches against a slow reference, and against hierarchies of one cache each.
#include "simulator/cache_sweep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <random>
#include <vector>

#include "simulator/hierarchy.h"

namespace halo::simulator {
namespace {

using Sweep = CacheSweep<2>;

// A cache as lists of line numbers, the most recently used first.
class SlowCache {
 public:
  SlowCache(uint64_t bytes, uint32_t ways) : ways_(ways), sets_(bytes / 64 / ways) {}

  // Returns whether one of the lines of the access was missing.
  bool misses(uint64_t address, uint32_t size) {
    bool missed = lacks(address / 64);
    if ((address + size - 1) / 64 != address / 64) missed |= lacks(address / 64 + 1);
    return missed;
  }

 private:
  bool lacks(uint64_t line) {
    std::list<uint64_t>& set = sets_[line % sets_.size()];
    const auto at = std::find(set.begin(), set.end(), line);
    const bool found = at != set.end();
    if (found) set.erase(at);
    set.push_front(line);
    if (set.size() > ways_) set.pop_back();
    return !found;
  }

  uint32_t ways_;
  std::vector<std::list<uint64_t>> sets_;
};

struct Access {
  uint64_t address;
  uint32_t size;
  size_t kind;
};

// Walks and jumps over up to 2^`bits` bytes, in two regions far apart, across lines now and then.
std::vector<Access> trace(uint64_t seed, int bits, int length) {
  std::mt19937_64 random(seed);
  std::vector<Access> found;
  uint64_t at = 0;
  for (int step = 0; step < length; ++step) {
    at = (random() % 3 == 0 ? random() : at + 8) & ((1ULL << bits) - 1);
    const uint64_t base = random() % 8 == 0 ? 1ULL << 45 : 0;
    found.push_back({base + at, uint32_t(1 + random() % 16), random() % 2});
  }
  return found;
}

template <class Visit>
void for_each_cache(const Visit& visit) {
  for (uint64_t bytes = Sweep::kMinBytes; bytes <= Sweep::kMaxBytes; bytes *= 2)
    for (const uint32_t ways : Sweep::kWays) visit(bytes, ways);
}

Hierarchy one_cache(uint64_t bytes, uint32_t ways) {
  Machine machine;
  machine.caches = {{"L1D", cache_shape(bytes, ways, 64), 0}};
  machine.tlbs = {{"DTLB", {16, 4}, 0}};
  machine.next_line = machine.streams = false;
  return Hierarchy(machine);
}

TEST(CacheSweep, HasAllSizesFrom8KiBTo1MiB) {
  int caches = 0;
  for_each_cache([&](uint64_t, uint32_t) { ++caches; });
  EXPECT_EQ(caches, 32);
}

class CacheSweepOnTraces : public testing::TestWithParam<int> {};

TEST_P(CacheSweepOnTraces, EveryCacheMissesAsASlowOneAndAsAHierarchy) {
  const std::vector<Access> accesses = trace(uint64_t(GetParam()), GetParam(), 20000);
  Sweep sweep;
  for (const Access& one : accesses) sweep.access(one.address, one.size, one.kind);
  for_each_cache([&](uint64_t bytes, uint32_t ways) {
    SlowCache slow(bytes, ways);
    Hierarchy hierarchy = one_cache(bytes, ways);
    uint64_t missed[2] = {}, reached[2] = {};
    for (const Access& one : accesses) {
      missed[one.kind] += slow.misses(one.address, one.size);
      reached[one.kind] += hierarchy.access(one.address, one.size, false).cache;
    }
    for (const size_t kind : {0, 1}) {
      EXPECT_EQ(sweep.misses(bytes, ways, kind), missed[kind]) << bytes << " x " << ways;
      EXPECT_EQ(sweep.misses(bytes, ways, kind), reached[kind]) << bytes << " x " << ways;
    }
  });
}

// From half of the smallest cache to 16 times the largest.
INSTANTIATE_TEST_SUITE_P(Spans, CacheSweepOnTraces, testing::Values(12, 14, 17, 20, 24));

TEST(CacheSweep, OneLineMoreThanTheWaysMissesAtEachUse) {
  Sweep sweep;
  constexpr uint64_t kWay = 32 << 10;  // of 64 KiB and 2 ways
  for (int round = 0; round < 100; ++round)
    for (uint64_t line = 0; line < 3; ++line) sweep.access(line * kWay, 8, 1);
  EXPECT_EQ(sweep.misses(64 << 10, 2, 1), 300u);
  EXPECT_EQ(sweep.misses(128 << 10, 4, 1), 3u);
  EXPECT_EQ(sweep.misses(128 << 10, 2, 1), 3u);  // lines 0 and 2 in one set, 1 in another
  EXPECT_EQ(sweep.misses(64 << 10, 2, 0), 0u);
}

}  // namespace
}  // namespace halo::simulator
