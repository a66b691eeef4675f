// The table of callers: what is set is found, what is not set any more is not.
#include "runtime/callers.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace halo::runtime {
namespace {

std::vector<Caller> sorted(const std::map<std::uintptr_t, CallerCode>& callers) {
  std::vector<Caller> result;
  for (const auto& [address, code] : callers) result.push_back({address, code});
  return result;
}

TEST(Callers, AgreeWithAMapWhileModulesComeAndGo) {
  std::mt19937_64 random(3);
  std::map<std::uintptr_t, CallerCode> callers;
  std::vector<std::uintptr_t> ever;
  for (int round = 0; round < 1000; ++round) {
    // A module's callers lie close together, and collide with those of the one before.
    const std::uintptr_t module = (random() % (std::uintptr_t{1} << 46)) & ~std::uintptr_t{0xFFF};
    for (int i = 0; i < 40; ++i) {
      const std::uintptr_t address = module + random() % 0x4000;
      callers[address] = static_cast<CallerCode>(random() % plan::max_groups);
      ever.push_back(address);
    }
    if (round % 2 == 1)
      for (auto at = callers.begin(); at != callers.end();)
        at = random() % 2 == 0 ? callers.erase(at) : std::next(at);
    set_callers(sorted(callers));
    for (const std::uintptr_t address : ever) {
      const auto at = callers.find(address);
      ASSERT_EQ(find_caller(address), at == callers.end() ? code_forward : at->second);
    }
  }
  set_callers({});
  for (const std::uintptr_t address : ever) ASSERT_EQ(find_caller(address), code_forward);
}

TEST(Callers, ForwardWhatDoesNotFit) {
  std::vector<Caller> callers;
  for (std::uintptr_t i = 1; i <= 2 * caller_slots; ++i)
    callers.push_back({i * 40, decided_code(7, false)});
  set_callers(callers);
  std::size_t found = 0;
  for (const Caller& caller : callers) found += find_caller(caller.address) == caller.code ? 1 : 0;
  EXPECT_GT(found, caller_slots / 2);
  EXPECT_LT(found, caller_slots);
  EXPECT_EQ(find_caller(39), code_forward);
  set_callers({});
}

TEST(Callers, CodesKeepWhatTheyAreMadeOf) {
  const CallerCode plain = decided_code(4095, false), wide = decided_code(3, true);
  EXPECT_TRUE(is_decided(plain) && is_decided(wide));
  EXPECT_EQ(group_of(plain), 4095);
  EXPECT_EQ(group_of(wide), 3);
  EXPECT_EQ(align_mask(plain), 7u);
  EXPECT_EQ(align_mask(wide), 15u);
  EXPECT_FALSE(is_decided(code_forward));
}

}  // namespace
}  // namespace halo::runtime
