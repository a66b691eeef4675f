// Hot lines against a slow reference, and on patterns whose counts are known.
#include "simulator/line_uses.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace halo::simulator {
namespace {

TEST(LineUses, AgreesWithASlowReference) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20; ++round) {
    LineUses uses(64);
    std::map<uint64_t, uint64_t> by_line;
    uint64_t newest = UINT64_MAX, all = 0;
    const auto use = [&](uint64_t line) {
      if (line == newest) return;
      newest = line;
      ++by_line[line];
      ++all;
    };
    const uint64_t span = 1 + random() % 100000;
    for (int step = 0; step < 5000; ++step) {
      const uint64_t address = (random() % 4 << 40) + random() % span * (random() % span) / span;
      const uint32_t size = 1 + uint32_t(random() % 16);
      uses.use(address, size);
      use(address / 64);
      use((address + size - 1) / 64);
    }
    std::vector<uint64_t> counts;
    for (const auto& [line, count] : by_line) counts.push_back(count);
    std::sort(counts.rbegin(), counts.rend());
    uint64_t lines = 0;
    for (uint64_t sum = 0; 10 * sum < 9 * all; ++lines) sum += counts[lines];
    const HotLines found = uses.hot_lines(512);
    EXPECT_EQ(found.lines, lines);
    std::map<uint64_t, uint64_t> least, most;  // by slot: lines that are, and that may be, hot
    for (const auto& [line, count] : by_line) {
      const uint64_t slot = line % 512 / 8;
      least[slot] += count > counts[lines - 1];
      most[slot] += count >= counts[lines - 1];
    }
    uint64_t sum = 0;
    for (size_t slot = 0; slot < HotLines::kSlots; ++slot) {
      EXPECT_GE(found.by_slot[slot], least[slot]);
      EXPECT_LE(found.by_slot[slot], most[slot]);
      sum += found.by_slot[slot];
    }
    EXPECT_EQ(sum, lines);
  }
}

TEST(LineUses, HeadersOfPagesAreHotInOneSlot) {
  LineUses uses(64);
  for (int round = 0; round < 10; ++round)
    for (uint64_t page = 0; page < 100; ++page) uses.use(0x40000000 + page * 4096, 8);
  for (uint64_t at = 0; at < 100; ++at) uses.use(0x80000000 + at * 64, 8);  // each once
  const HotLines found = uses.hot_lines(64);
  EXPECT_EQ(found.lines, 99u);
  EXPECT_EQ(found.by_slot[0], 99u);
  EXPECT_EQ(uses.hot_lines(64).lines, 99u);
}

TEST(LineUses, RepeatedUsesDoNotCount) {
  LineUses uses(64);
  for (int step = 0; step < 1000; ++step) uses.use(0x1000, 8);
  for (int step = 0; step < 20; ++step) uses.use(0x2000 + step % 2 * 64, 8);
  EXPECT_EQ(uses.hot_lines(64).lines, 2u);
  EXPECT_EQ(LineUses(64).hot_lines(64).lines, 0u);
}

}  // namespace
}  // namespace halo::simulator
