// The walk over synthetic stacks: steps, recursion, frame pointers, and a random comparison with a
// simple reference.
#include "runtime/identify/identifier.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

#include "plan/plan_builder.h"

namespace halo::runtime {
namespace {

using plan::kVerdictForward;
using plan::kVerdictUndecided;
using plan::PlanBuilder;
using plan::Rule;

constexpr uintptr_t kBias = 0x10000;

// A table with the plan's only module at `bias`.
struct Made {
  std::unique_ptr<std::byte[]> memory;
  Table* table = nullptr;

  Made() = default;
  Made(Made&&) = default;
  ~Made() {
    if (memory != nullptr) remove_module(*table, 0);
  }
};

Made make(const PlanBuilder& builder, bool loaded = true) {
  Made made;
  made.memory = std::make_unique<std::byte[]>(table_bytes(builder.states().size(), 1));
  made.table = make_table(builder.states(), 1, made.memory.get());
  if (loaded) place_module(*made.table, 0, kBias);
  return made;
}

// Looks up the innermost address as malloc does, then walks.
Verdict walk(const Table& table, const std::vector<uintptr_t>& stack, uintptr_t rbp = 0) {
  const CallerCode code = find_caller(stack[0]);
  if (code == kCodeForward) return kForwardVerdict;
  EXPECT_TRUE(planned(reinterpret_cast<const void*>(stack[0])));
  return identify_caller(table, code, stack.data(), rbp);
}

TEST(Identifier, NoPlanForwardsAllCallers) {
  EXPECT_EQ(find_caller(0x1234), kCodeForward);
  EXPECT_FALSE(planned(reinterpret_cast<const void*>(0x1234)));
}

TEST(Identifier, DecidesByTheCallerOnly) {
  PlanBuilder builder;
  builder.state(0, 0x10, 3, 0, Rule::kEnd);
  const Made made = make(builder);
  EXPECT_EQ(walk(*made.table, {kBias + 0x10}).group, 3);
  EXPECT_EQ(walk(*made.table, {kBias + 0x11}).group, kVerdictForward);
}

TEST(Identifier, StepsByEachCallSitesDistance) {
  PlanBuilder builder;
  const auto inner = builder.state(0, 0x10, kVerdictUndecided, 24);
  const auto middle = builder.state(inner, 0x20, kVerdictUndecided, 8);
  builder.state(middle, 0x30, 5);
  const Made made = make(builder);
  EXPECT_EQ(walk(*made.table, {kBias + 0x10, 1, 2, kBias + 0x20, kBias + 0x30}).group, 5);
  EXPECT_EQ(walk(*made.table, {kBias + 0x10, 1, 2, kBias + 0x20, kBias + 0x31}).group,
            kVerdictForward);
}

TEST(Identifier, RecursionOnlyAdvances) {
  PlanBuilder builder;
  const auto a = builder.state(0, 0xA, kVerdictUndecided, 8);
  const auto b = builder.state(a, 0xB, kVerdictUndecided, 16);
  builder.state(b, 0xC, 1);
  const Made made = make(builder);
  // a b a b b c, where a's frames take one slot and b's take two.
  const uintptr_t A = kBias + 0xA, B = kBias + 0xB, C = kBias + 0xC;
  EXPECT_EQ(walk(*made.table, {A, B, 0, A, B, 0, B, 0, C}).group, 1);
}

TEST(Identifier, EndlessRecursionEndsInForward) {
  PlanBuilder builder;
  const auto a = builder.state(0, 0xA, kVerdictUndecided, 8);
  builder.state(a, 0xB, 1);
  const Made made = make(builder);
  EXPECT_EQ(walk(*made.table, std::vector<uintptr_t>(1000, kBias + 0xA)).group, kVerdictForward);
}

TEST(Identifier, FollowsTheFramePointer) {
  PlanBuilder builder;
  const auto a = builder.state(0, 0xA, kVerdictUndecided, 8, Rule::kFramePointer);
  builder.state(a, 0xB, 2);
  const Made made = make(builder);
  std::vector<uintptr_t> stack{kBias + 0xA, 0, 0, 0, kBias + 0xB};
  const auto rbp = reinterpret_cast<uintptr_t>(&stack[3]);
  EXPECT_EQ(identify(*made.table, 1, stack.data(), rbp).group, 2);
  // A frame pointer that leads down the stack, or far away, is not followed.
  for (const uintptr_t bad :
       {uintptr_t{0}, reinterpret_cast<uintptr_t>(stack.data()) - 64, rbp + (8u << 20), rbp + 1})
    EXPECT_EQ(identify(*made.table, 1, stack.data(), bad).group, kVerdictForward);
}

TEST(Identifier, RestoresTheFramePointerThatAnInnerFrameSaved) {
  PlanBuilder builder;
  const auto a = builder.state(0, 0xA, kVerdictUndecided, 24);
  builder.at(a).flags = plan::kStateRestoresRbp;
  builder.at(a).rbp_below = 8;
  const auto b = builder.state(a, 0xB, kVerdictUndecided, 8, Rule::kFramePointer);
  builder.state(b, 0xC, 4);
  const Made made = make(builder);
  std::vector<uintptr_t> stack{kBias + 0xA, 0, 0, kBias + 0xB, 0, 0, kBias + 0xC};
  stack[2] = reinterpret_cast<uintptr_t>(&stack[5]);  // saved rbp, just below the next slot
  EXPECT_EQ(identify(*made.table, a, stack.data(), 0xDEAD).group, 4);
}

TEST(Identifier, UnloadedModulesNeverMatch) {
  PlanBuilder builder;
  builder.state(0, 0x10, 3);
  const Made made = make(builder, false);
  EXPECT_EQ(walk(*made.table, {kBias + 0x10}).group, kVerdictForward);
  EXPECT_EQ(walk(*made.table, {0x10}).group, kVerdictForward);
}

// The innermost occurrence of each address, as section 4.1 of HALO reduces stacks.
std::vector<uintptr_t> reduced(const std::vector<uintptr_t>& stack) {
  std::vector<uintptr_t> kept;
  for (const uintptr_t address : stack)
    if (std::find(kept.begin(), kept.end(), address) == kept.end()) kept.push_back(address);
  return kept;
}

TEST(Identifier, AgreesWithReducedStacksOnRandomTries) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    PlanBuilder builder;
    std::vector<std::vector<uintptr_t>> paths{{}};
    for (uint32_t i = 1; i < 60; ++i) {
      const auto parent = static_cast<uint32_t>(random() % i);
      uintptr_t address = 1 + random() % 12;
      std::vector<uintptr_t> path = paths[parent];
      path.push_back(kBias + address);
      const bool fits = builder.at(parent).verdict == kVerdictUndecided &&
                        reduced(path).size() == path.size() &&
                        std::find(paths.begin(), paths.end(), path) == paths.end();
      if (!fits) path = {0};  // unreachable filler
      const auto verdict = random() % 3 == 0 ? static_cast<uint16_t>(i) : kVerdictUndecided;
      builder.state(fits ? parent : 0, fits ? address : 0x9000 + i, verdict, 8);
      paths.push_back(path);
    }
    const Made made = make(builder);
    for (int probe = 0; probe < 200; ++probe) {
      std::vector<uintptr_t> stack(1 + random() % 20);
      for (auto& address : stack) address = kBias + 1 + random() % 12;
      const auto kept = reduced(stack);
      uint16_t expected = kVerdictForward;
      for (size_t n = 1; n <= kept.size(); ++n) {
        const auto at =
            std::find(paths.begin(), paths.end(),
                      std::vector(kept.begin(), kept.begin() + static_cast<ptrdiff_t>(n)));
        if (at == paths.end()) break;
        const auto verdict = builder.at(static_cast<uint32_t>(at - paths.begin())).verdict;
        if (verdict == kVerdictUndecided) continue;
        expected = verdict;
        break;
      }
      stack.push_back(0);  // beyond the outermost frame
      EXPECT_EQ(walk(*made.table, stack).group, expected);
    }
  }
}

}  // namespace
}  // namespace halo::runtime
