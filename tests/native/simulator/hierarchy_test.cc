// The simulated caches against a slow reference, and the prefetchers on synthetic patterns.
#include "simulator/hierarchy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <list>
#include <map>
#include <random>
#include <span>
#include <sstream>

#include "simulator/regions.h"
#include "simulator/use_order.h"
#include "simulator/ways.h"

namespace halo::simulator {
namespace {

Machine machine_of(std::vector<Shape> caches, bool prefetch = false) {
  Machine machine;
  for (const Shape& shape : caches) machine.caches.push_back({"", shape, 10});
  machine.tlbs = {{"", {4, 2}, 0}, {"", {16, 4}, 7}};
  machine.next_line = machine.streams = prefetch;
  return machine;
}

// A list for each set, the most recently used block first.
class SlowLevels {
 public:
  explicit SlowLevels(const std::vector<Shape>& shapes) : shapes_(shapes), levels_(shapes.size()) {}

  size_t load(size_t level, uint64_t block, bool store) {
    if (level == shapes_.size()) return level;
    std::list<Block>& set = levels_[level][block % shapes_[level].sets];
    for (auto at = set.begin(); at != set.end(); ++at) {
      if (at->number != block) continue;
      at->dirty |= store;
      set.splice(set.begin(), set, at);
      return level;
    }
    ++misses[level];
    const size_t reached = load(level + 1, block, false);
    set.push_front({block, store});
    if (set.size() > shapes_[level].ways) {
      const Block last = set.back();
      set.pop_back();
      if (last.dirty) write_back(level + 1, last.number);
    }
    return reached;
  }

  std::map<size_t, uint64_t> misses;

 private:
  struct Block {
    uint64_t number;
    bool dirty;
  };

  void write_back(size_t level, uint64_t block) {
    if (level == shapes_.size()) return;
    for (Block& held : levels_[level][block % shapes_[level].sets]) {
      if (held.number != block) continue;
      held.dirty = true;
      return;
    }
    load(level, block, true);
  }

  std::vector<Shape> shapes_;
  std::vector<std::map<uint64_t, std::list<Block>>> levels_;
};

uint32_t below(uint32_t end, std::mt19937& random) { return uint32_t(random()) % end; }

TEST(Hierarchy, MissesWhatTheReferenceMisses) {
  std::mt19937 random(1);
  for (int round = 0; round < 60; ++round) {
    std::vector<Shape> shapes;
    const uint32_t levels = 1 + below(3, random);
    for (uint32_t level = 0; level < levels; ++level)
      shapes.push_back({1 + below(8u << 2 * level, random), 1 + below(8, random)});
    Hierarchy fast(machine_of(shapes));
    SlowLevels slow(shapes), slow_pages({{4, 2}, {16, 4}});
    const uint64_t bytes = 64 << below(12, random);
    const uint64_t pieces = 1 + below(4, random), apart = 1ULL << (21 + below(20, random));
    uint64_t offset = 0;
    for (int step = 0; step < 4000; ++step) {
      offset = random() % 4 == 0 ? random() % bytes : (offset + 8) % bytes;
      const uint64_t at = offset + random() % pieces * apart;
      const uint32_t size = 1 + below(16, random);
      const bool store = random() % 3 == 0;
      const Reach reach = fast.access(at, size, store);
      size_t cache = 0, tlb = 0;
      for (uint64_t line = at / 64; line <= (at + size - 1) / 64; ++line)
        cache = std::max(cache, slow.load(0, line, store));
      for (uint64_t page = at / 4096; page <= (at + size - 1) / 4096; ++page)
        tlb = std::max(tlb, slow_pages.load(0, page, false));
      ASSERT_EQ(reach.cache, cache) << "round " << round << " step " << step;
      ASSERT_EQ(reach.tlb, tlb) << "round " << round << " step " << step;
    }
    for (size_t level = 0; level < shapes.size(); ++level)
      EXPECT_EQ(fast.cache_misses(level), slow.misses[level]) << "level " << level;
    for (size_t level = 0; level < 2; ++level)
      EXPECT_EQ(fast.tlb_misses(level), slow_pages.misses[level]);
  }
}

TEST(Hierarchy, CostsWhatWasReached) {
  Machine machine = machine_of({{1, 1}, {4, 4}});
  machine.tlbs = {{"", {1, 1}, 0}, {"", {4, 4}, 7}};
  machine.memory_cycles = 100;
  machine.walk_cycles = 30;
  Hierarchy hierarchy(machine);
  hierarchy.access(0, 8, false);  // memory, walk
  EXPECT_EQ(hierarchy.cycles(), 130u);
  hierarchy.access(8, 8, false);
  EXPECT_EQ(hierarchy.cycles(), 130u);
  hierarchy.access(4096, 8, false);  // memory, walk
  hierarchy.access(0, 8, false);     // second cache, second TLB
  EXPECT_EQ(hierarchy.cycles(), 260u + 17);
  EXPECT_EQ(hierarchy.accesses(), 4u);
}

TEST(Hierarchy, TheLineBehindAMissIsThereButNotAcrossAPage) {
  Machine machine = machine_of({{64, 8}}, true);
  Hierarchy hierarchy(machine);
  for (uint64_t line = 0; line < 128; ++line) hierarchy.access(line * 64, 8, false);
  EXPECT_EQ(hierarchy.cache_misses(0), 64u) << "every second, and the first of each page";
  EXPECT_EQ(hierarchy.prefetched(0), 64u);
}

// Lines at a distance of two: only the second prefetcher detects them.
TEST(Hierarchy, StreamsAreFollowedInBothDirections) {
  for (const bool downwards : {false, true}) {
    Machine machine = machine_of({{64, 8}, {1024, 8}}, true);
    machine.next_line = false;
    Hierarchy hierarchy(machine);
    uint64_t from_memory = 0;
    for (uint64_t at = 0; at < 32; ++at) {
      const uint64_t line = downwards ? 63 - 2 * at : 2 * at;
      from_memory += hierarchy.access(line * 64, 8, false).cache == 2;
    }
    EXPECT_EQ(from_memory, 3u) << "until two steps were seen";
  }
}

TEST(Hierarchy, RandomAccessesCauseNoStreamPrefetch) {
  Machine machine = machine_of({{64, 8}, {1024, 8}}, true);
  machine.next_line = false;
  Hierarchy hierarchy(machine);
  std::mt19937 random(1);
  for (int step = 0; step < 10000; ++step) hierarchy.access(random() % (1u << 30), 4, false);
  EXPECT_LT(hierarchy.prefetched(1), 100u);
}

TEST(Hierarchy, HugePagesHaveATlbOfTheirOwn) {
  Machine machine = machine_of({{64, 8}});
  machine.tlbs = {{"", {1, 2}, 0}, {"", {1, 8}, 7}};
  machine.huge_tlb = {1, 2};
  machine.walk_cycles = 30;
  Hierarchy hierarchy(machine);
  constexpr uint64_t kHuge = 2 << 20;
  hierarchy.use_huge_pages(kHuge - 1, 2 * kHuge);  // the second and, except for a byte, the third
  const auto tlb = [&](uint64_t address) { return int(hierarchy.access(address, 8, false).tlb); };
  EXPECT_EQ(tlb(kHuge), 2);
  for (uint64_t page = 1; page < 512; ++page) ASSERT_EQ(tlb(kHuge + page * 4096), 0) << page;
  EXPECT_EQ(tlb(2 * kHuge), 2) << "this is on small pages";
  EXPECT_EQ(tlb(2 * kHuge + 4096), 2);
  EXPECT_EQ(tlb(0), 2);
  EXPECT_EQ(tlb(2 * kHuge), 1) << "small pages have two entries";
  EXPECT_EQ(tlb(kHuge + 8), 0) << "and leave the huge ones alone";
  EXPECT_EQ(hierarchy.tlb_misses(0), 5u);
}

TEST(Ways, VectorVariantsAgreeWithTheScalarOne) {
  std::mt19937 random(1);
  alignas(64) std::array<Entry, 3 * kLanes> set{}, slow_set{};
  const std::vector<WayOperations> all = configs_here();
  const WayOperations& slow = all.front();
  if (all.size() == 1) GTEST_SKIP() << "this processor takes one at a time";
  for (const WayOperations& fast : std::span(all).subspan(1)) {
    for (int round = 0; round < 20000; ++round) {
      const uint32_t ways = 1 + below(uint32_t(set.size()), random);
      set = {};
      for (uint32_t way = 0; way < ways; ++way) set[way] = (2 + way) << 1 | below(2, random);
      slow_set = set;
      const Entry entry = (2 + below(ways + 2, random)) << 1 | below(2, random);
      ASSERT_EQ(fast.find(set.data(), ways, entry), slow.find(set.data(), ways, entry));
      if (round % 2 == 0) {
        ASSERT_EQ(fast.touch(set.data(), ways, entry), slow.touch(slow_set.data(), ways, entry));
      } else {
        ASSERT_EQ(fast.insert(set.data(), ways, 1u << 31), slow_set[ways - 1]);
        slow.insert(slow_set.data(), ways, 1u << 31);
      }
      ASSERT_EQ(set, slow_set) << ways << " ways";
    }
  }
}

TEST(Regions, AreNamedInOrderAndMapToTheirLines) {
  Regions regions(6, 12);
  std::mt19937_64 random(1);
  std::vector<uint64_t> lines;
  for (uint32_t at = 1; at < 3000; ++at) {
    const uint64_t region = at * 1024 + random() % 3;  // three share a slot each
    const uint64_t line = region << (Regions::kShift - 6) | random() % (1 << (Regions::kShift - 6));
    const uint32_t name = uint32_t(line) + regions.of(region).to_line;
    EXPECT_EQ(name >> (Regions::kShift - 6), at);
    lines.push_back(line);
  }
  for (const uint64_t line : lines) {
    const Regions::Region& region = regions.of(line >> (Regions::kShift - 6));
    ASSERT_EQ(regions.line(uint32_t(line) + region.to_line).number, line);
  }
}

TEST(Regions, BeyondTheMaximumShareNames) {
  Regions regions(0, 12);
  const auto name = [&](uint64_t region) {
    return (uint32_t(region << Regions::kShift) + regions.of(region).to_line) >> Regions::kShift;
  };
  for (uint64_t region = 0; region < regions.maximum(); ++region)
    ASSERT_EQ(name(region), region + 1) << "so that none is 0";
  EXPECT_EQ(name(regions.maximum()), 1u);
  EXPECT_EQ(name(0), 1u);
  EXPECT_EQ(regions.line(1u << Regions::kShift).number,
            uint64_t{regions.maximum()} << Regions::kShift);
}

TEST(UseOrder, NamesTheLeastRecentlyUsed) {
  UseOrder<32> order;
  std::list<uint32_t> slow;  // the most recently used first
  for (uint32_t at = 0; at < 32; ++at) slow.push_front(at);
  std::mt19937 random(1);
  for (int step = 0; step < 10000; ++step) {
    ASSERT_EQ(order.oldest(), slow.back()) << "step " << step;
    const uint32_t which = below(3, random) == 0 ? slow.back() : below(32, random);
    order.use(which);
    slow.remove(which);
    slow.push_front(which);
  }
}

TEST(Machine, IsReadFromText) {
  std::istringstream text(
      "line 128\npage 8192\nmemory 300\nwalk 40\nhuge 8 4\n\ncache L1D 64 12 0\n"
      "cache L2 1000 16 11\ntlb DTLB 16 4 0\nprefetch streams\n");
  const Machine machine = parse_machine(text);
  EXPECT_EQ(machine.line, 128u);
  EXPECT_EQ(machine.page, 8192u);
  EXPECT_EQ(machine.memory_cycles, 300u);
  EXPECT_EQ(machine.walk_cycles, 40u);
  EXPECT_EQ(machine.huge_tlb.sets, 8u);
  ASSERT_EQ(machine.caches.size(), 2u);
  EXPECT_EQ(machine.caches[1].name, "L2");
  EXPECT_EQ(machine.caches[1].shape.sets, 1000u);
  EXPECT_EQ(machine.caches[1].cycles, 11u);
  ASSERT_EQ(machine.tlbs.size(), 1u);
  EXPECT_FALSE(machine.next_line);
  EXPECT_TRUE(machine.streams);
  for (const char* wrong : {"line", "cache L1D 64", "cache L1D 0 8 0", "prefetch all", "ways 3"}) {
    std::istringstream bad(wrong);
    EXPECT_THROW(parse_machine(bad), std::invalid_argument) << wrong;
  }
}

TEST(Machine, OfThisKindHasLevels) {
  for (const Machine& machine : {this_machine(), typical_machine()}) {
    EXPECT_GE(machine.caches.size(), 2u);
    EXPECT_EQ(machine.caches.front().name, "L1D");
    for (const LevelSettings& level : machine.caches) EXPECT_GT(level.shape.sets, 0u);
    Hierarchy(machine).access(0, 8, true);
  }
  EXPECT_EQ(cache_shape(48 << 10, 12, 64).sets, 64u);
}

TEST(Machine, ThatCannotBeIsRefused) {
  EXPECT_THROW(Hierarchy(machine_of({})), std::invalid_argument);
  Machine machine = typical_machine();
  machine.line = 48;
  EXPECT_THROW(Hierarchy{machine}, std::invalid_argument);
}

}  // namespace
}  // namespace halo::simulator
