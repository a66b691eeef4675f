// The callers table: added callers are found, removed ones are not.
#include "runtime/identify/callers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace halo::runtime {
namespace {

TEST(Callers, AgreeWithAMapWhileModulesComeAndGo) {
  std::mt19937_64 random(3);
  std::map<uintptr_t, CallerCode> callers;
  std::vector<uintptr_t> ever;
  for (int round = 0; round < 1000; ++round) {
    // A module's callers are close together, and collide with those of the previous module.
    const uintptr_t module = (random() % (uintptr_t{1} << 46)) & ~uintptr_t{0xFFF};
    for (int i = 0; i < 40; ++i) {
      const uintptr_t address = module + random() % 0x4000;
      callers[address] = static_cast<CallerCode>(random() % plan::kMaxGroups);
      add_caller({address, callers[address]});
      ever.push_back(address);
    }
    for (auto at = callers.begin(); round % 2 == 1 && at != callers.end();) {
      if (random() % 2 == 0) {
        remove_caller(at->first);
        at = callers.erase(at);
      } else {
        ++at;
      }
    }
    for (const uintptr_t address : ever) {
      const auto at = callers.find(address);
      ASSERT_EQ(find_caller(address), at == callers.end() ? kCodeForward : at->second);
    }
  }
  for (const uintptr_t address : ever) remove_caller(address);
  for (const uintptr_t address : ever) ASSERT_EQ(find_caller(address), kCodeForward);
}

TEST(Callers, ThatAreAllGoneLeaveAnEmptyTable) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 100; ++round) {
    std::vector<uintptr_t> callers;
    for (int i = 0; i < 2000; ++i) callers.push_back(1 + random() % (uintptr_t{1} << 47));
    for (const uintptr_t caller : callers) add_caller({caller, decided_code(7, false)});
    std::ranges::shuffle(callers, random);
    for (const uintptr_t caller : callers) remove_caller(caller);
  }
  EXPECT_TRUE(std::ranges::all_of(caller_words, [](uint64_t word) { return word == 0; }));
}

TEST(Callers, ForwardWhatDoesNotFit) {
  std::vector<uintptr_t> callers;
  for (uintptr_t i = 1; i <= 2 * kCallerSlots; ++i) callers.push_back(i * 40);
  for (const uintptr_t caller : callers) add_caller({caller, decided_code(7, false)});
  const auto found = std::ranges::count_if(
      callers, [](uintptr_t caller) { return find_caller(caller) == decided_code(7, false); });
  EXPECT_GT(found, kCallerSlots / 2);
  EXPECT_LT(found, kCallerSlots);
  EXPECT_EQ(find_caller(39), kCodeForward);
  for (const uintptr_t caller : callers) remove_caller(caller);
  // There is room again.
  add_caller({callers.back(), decided_code(7, false)});
  EXPECT_EQ(find_caller(callers.back()), decided_code(7, false));
  remove_caller(callers.back());
}

TEST(Callers, CodesKeepWhatTheyAreMadeOf) {
  const CallerCode plain = decided_code(4095, false), wide = decided_code(3, true);
  EXPECT_TRUE(is_decided(plain) && is_decided(wide));
  EXPECT_EQ(group_of(plain), 4095);
  EXPECT_EQ(group_of(wide), 3);
  EXPECT_EQ(align_bit(plain), 0u);
  EXPECT_EQ(align_bit(wide), 1u);
  EXPECT_FALSE(is_decided(kCodeForward));
}

}  // namespace
}  // namespace halo::runtime
