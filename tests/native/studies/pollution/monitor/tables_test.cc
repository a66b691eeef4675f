// The tables of the watch against those of the standard library, by random operations.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <utility>

#include "studies/pollution/monitor/deadlines.h"
#include "studies/pollution/monitor/number_map.h"

namespace halo::watch {
namespace {

TEST(Deadlines, AreTakenInOrder) {
  constexpr uint32_t kCapacity = 40;
  std::mt19937 random(1);
  Deadlines found(kCapacity);
  std::map<uint32_t, uint64_t> at;
  const auto first = [&] {
    std::set<std::pair<uint64_t, uint32_t>> order;
    for (const auto& [number, deadline] : at) order.insert({deadline, number});
    return *order.begin();
  };
  for (int step = 0; step < 20000; ++step) {
    const auto number = uint32_t(random() % kCapacity);
    switch (random() % 4) {
      case 0:
        found.clear(number);
        at.erase(number);
        break;
      case 1:
        if (at.empty()) break;
        ASSERT_EQ(first().second, found.take_first());
        at.erase(first().second);
        break;
      default:
        at[number] = random() % 50;
        found.set(number, at[number]);
    }
    ASSERT_EQ(at.empty() ? Deadlines::kNever : first().first, found.first());
  }
}

TEST(NumberMap, HoldsItsCapacity) {
  constexpr uint32_t kCapacity = 300;
  std::mt19937_64 random(1);
  NumberMap found(kCapacity);
  std::map<uint64_t, uint32_t> expected;
  for (int step = 0; step < 50000; ++step) {
    const uint64_t key = random() % 1000 * (step % 2 == 0 ? 1 : 4096);
    if (random() % 3 == 0) {
      found.erase(key);
      expected.erase(key);
    } else if (expected.size() < kCapacity && !expected.contains(key)) {
      found.insert(key, uint32_t(step));
      expected[key] = uint32_t(step);
    }
    const uint64_t other = random() % 1000;
    const auto at = expected.find(other);
    ASSERT_EQ(at == expected.end() ? NumberMap::kAbsent : at->second, found.find(other));
  }
}

}  // namespace
}  // namespace halo::watch
