// One table while modules are loaded, moved and unloaded, compared with a simple reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "plan/plan_builder.h"
#include "runtime/identify/identifier.h"

namespace halo::runtime {
namespace {

using plan::kVerdictForward;
using plan::kVerdictUndecided;
using plan::PlanBuilder;

constexpr uint32_t kModuleCount = 3;
constexpr uintptr_t kPage = 4096;

struct Frame {
  uint32_t module;
  uint64_t offset;
  bool operator==(const Frame&) const = default;
};
using Path = std::vector<Frame>;

// A random trie over three modules with distances of 8, and the path to each state.
struct Trie {
  PlanBuilder builder;
  std::vector<Path> paths{{}};
};

Trie make_trie(std::mt19937& random) {
  Trie trie;
  while (trie.paths.size() < 60) {
    const auto parent = static_cast<uint32_t>(random() % trie.paths.size());
    const Frame frame{static_cast<uint32_t>(random() % kModuleCount),
                      1 + random() % 3 + kPage * (random() % 2)};
    Path path = trie.paths[parent];
    if (trie.builder.at(parent).verdict != kVerdictUndecided ||
        std::ranges::find(path, frame) != path.end())
      continue;
    path.push_back(frame);
    if (std::ranges::find(trie.paths, path) != trie.paths.end()) continue;
    const auto group = static_cast<uint16_t>(trie.paths.size());
    const auto verdict = random() % 3 == 0 ? group : kVerdictUndecided;
    trie.builder.at(trie.builder.state(parent, frame.offset, verdict, 8)).module = frame.module;
    trie.paths.push_back(path);
  }
  return trie;
}

using Places = std::array<std::optional<uintptr_t>, kModuleCount>;

std::optional<Frame> frame_at(uintptr_t address, const Places& places) {
  for (uint32_t m = 0; m < kModuleCount; ++m)
    if (places[m] && address > *places[m] && address - *places[m] < 2 * kPage)
      return Frame{m, address - *places[m]};
  return std::nullopt;
}

// Section 4.1 of HALO: the innermost occurrence of each address, followed down the trie.
uint16_t expected_group(const Trie& trie, const std::vector<uintptr_t>& stack,
                        const Places& places) {
  Path path;
  for (size_t i = 0; i < stack.size(); ++i) {
    if (std::find(stack.begin(), stack.begin() + static_cast<ptrdiff_t>(i), stack[i]) !=
        stack.begin() + static_cast<ptrdiff_t>(i))
      continue;
    const auto frame = frame_at(stack[i], places);
    if (!frame) break;
    path.push_back(*frame);
    const auto at = std::ranges::find(trie.paths, path);
    if (at == trie.paths.end()) break;
    const auto state = static_cast<size_t>(at - trie.paths.begin());
    const auto verdict = trie.builder.states()[state].verdict;
    if (verdict != kVerdictUndecided) return verdict;
  }
  return kVerdictForward;
}

uint16_t found_group(const Table& table, const std::vector<uintptr_t>& stack) {
  const CallerCode code = find_caller(stack[0]);
  if (code == kCodeForward) return kVerdictForward;
  return identify_caller(table, code, stack.data(), 0).group;
}

// Two pages each, so that no two overlap and modules reuse each other's addresses.
void move_modules(Table& table, Places& places, std::mt19937& random) {
  std::array<uintptr_t, 5> slots{2, 4, 6, 8, 10};
  std::ranges::shuffle(slots, random);
  for (uint32_t m = 0; m < kModuleCount; ++m) {
    if (random() % 2 == 0) continue;
    remove_module(table, m);
    places[m].reset();
  }
  size_t next = 0;
  for (uint32_t m = 0; m < kModuleCount; ++m) {
    if (places[m] || random() % 4 == 0) continue;
    while (std::ranges::find(places, std::optional(slots[next] * kPage)) != places.end()) ++next;
    places[m] = slots[next++] * kPage;
    place_module(table, m, *places[m]);
  }
}

TEST(Placing, AgreesWithReducedStacksWhileModulesMove) {
  std::mt19937 random(11);
  size_t grouped = 0;
  for (int round = 0; round < 50; ++round) {
    const Trie trie = make_trie(random);
    const auto states = trie.builder.states();
    const auto memory = std::make_unique<std::byte[]>(table_bytes(states.size(), kModuleCount));
    Table& table = *make_table(states, kModuleCount, memory.get());
    Places places{};
    for (int move = 0; move < 40; ++move) {
      move_modules(table, places, random);
      for (int probe = 0; probe < 50; ++probe) {
        // Of all addresses, including those without a module or with another one now.
        std::vector<uintptr_t> stack(1 + random() % 8);
        for (auto& address : stack) address = kPage * (2 + random() % 10) + 1 + random() % 3;
        const auto expected = expected_group(trie, stack, places);
        grouped += expected != kVerdictForward ? 1 : 0;
        stack.push_back(0);  // beyond the outermost frame
        ASSERT_EQ(found_group(table, stack), expected);
      }
    }
    for (uint32_t m = 0; m < kModuleCount; ++m) remove_module(table, m);
  }
  EXPECT_GT(grouped, 1000u);
}

TEST(Placing, LeavesNothingBehind) {
  PlanBuilder builder;
  for (uint64_t i = 1; i <= 2000; ++i) builder.state(0, i * 24, 1, 0, plan::Rule::kEnd);
  const auto memory = std::make_unique<std::byte[]>(table_bytes(builder.states().size(), 1));
  Table& table = *make_table(builder.states(), 1, memory.get());
  for (uintptr_t at = 1; at < 100; ++at) {
    place_module(table, 0, at * kPage);
    EXPECT_EQ(found_group(table, {at * kPage + 2000 * 24, 0}), 1);
    remove_module(table, 0);
    EXPECT_EQ(found_group(table, {at * kPage + 2000 * 24, 0}), kVerdictForward);
  }
  EXPECT_TRUE(std::ranges::all_of(caller_words, [](uint64_t word) { return word == 0; }));
}

TEST(Placing, OnesOnTheStackAreNoAbsentState) {
  PlanBuilder builder;
  const auto inner = builder.state(0, 0x10, kVerdictUndecided, 8);
  builder.state(inner, 0x20, 5);
  builder.at(2).module = 1;
  const auto memory = std::make_unique<std::byte[]>(table_bytes(builder.states().size(), 2));
  Table& table = *make_table(builder.states(), 2, memory.get());
  place_module(table, 0, kPage);
  EXPECT_EQ(found_group(table, {kPage + 0x10, kNoAddress, 0}), kVerdictForward);
  place_module(table, 1, 2 * kPage);
  EXPECT_EQ(found_group(table, {kPage + 0x10, 2 * kPage + 0x20}), 5);
  remove_module(table, 0);
  remove_module(table, 1);
}

TEST(Placing, SilentCallersAreForwarded) {
  PlanBuilder builder;
  builder.state(0, 0x10, 3, 0, plan::Rule::kEnd);
  const auto memory = std::make_unique<std::byte[]>(table_bytes(builder.states().size(), 1));
  Table& table = *make_table(builder.states(), 1, memory.get());
  silence_callers(table, 0, true);  // not placed: no effect
  place_module(table, 0, kPage);
  for (const bool silent : {true, false}) {
    silence_callers(table, 0, silent);
    EXPECT_EQ(found_group(table, {kPage + 0x10, 0}), silent ? kVerdictForward : 3);
  }
  remove_module(table, 0);
}

// Two modules with the same frames alternate at the same address, below one that stays.
TEST(Placing, ConcurrentWalksFindEitherOrNone) {
  PlanBuilder builder;
  const auto outer = builder.state(0, 0x10, kVerdictUndecided, 8);
  for (uint32_t m = 1; m <= 2; ++m) {
    const auto entry = builder.state(outer, 0x20, kVerdictUndecided, 8);
    builder.at(entry).module = m;
    builder.at(builder.state(entry, 0x30, static_cast<uint16_t>(m))).module = m;
    builder.at(builder.state(0, 0x40, static_cast<uint16_t>(m))).module = m;
  }
  const auto memory = std::make_unique<std::byte[]>(table_bytes(builder.states().size(), 3));
  Table& table = *make_table(builder.states(), 3, memory.get());
  place_module(table, 0, kPage);
  std::atomic<bool> stop{false};
  std::array<std::atomic<size_t>, 3> found{};  // by the first, by the second, forwarded
  const auto walk = [&] {
    for (uintptr_t at = 2; !stop; at = at == 2 ? 3 : 2)
      for (const auto& stack : {std::vector{kPage + 0x10, at * kPage + 0x20, at * kPage + 0x30},
                                std::vector{at * kPage + 0x40, uintptr_t{0}}}) {
        const uint16_t group = found_group(table, stack);
        ASSERT_TRUE(group == 1 || group == 2 || group == kVerdictForward);
        ++found[group == kVerdictForward ? 2 : group - 1u];
      }
  };
  std::thread first(walk), second(walk);
  const auto all_seen = [&] {
    return std::ranges::all_of(found, [](const auto& count) { return count > 100; });
  };
  for (uintptr_t round = 0; round < 1000 || !all_seen(); ++round) {
    const uint32_t module = 1 + round % 2;
    place_module(table, module, kPage * (2 + round / 2 % 2));
    std::this_thread::yield();
    remove_module(table, module);
  }
  stop = true;
  first.join();
  second.join();
  remove_module(table, 0);
}

}  // namespace
}  // namespace halo::runtime
