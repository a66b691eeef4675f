// Reduced stacks, built one call at a time, equal those of a simple reference.
#include "recorder/contexts/context_table.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "recorder/contexts/code/live_code.h"

namespace halo::record {
namespace {

using Addresses = std::vector<uint64_t>;

void no_code(const CodeVisitor&) {}

// Outermost first; of a repeated address only the innermost occurrence stays.
Addresses reduce(const Addresses& stack) {
  Addresses result;
  for (size_t at = 0; at < stack.size(); ++at) {
    const bool later =
        std::find(stack.begin() + long(at) + 1, stack.end(), stack[at]) != stack.end();
    if (!later) result.push_back(stack[at]);
  }
  return result;
}

// These addresses are in no file, so their offsets are the addresses themselves.
Addresses stack_of(const ContextTable& table, base::NodeId id) {
  Addresses result;
  for (uint32_t node = base::index(id); node != 0; node = table.nodes()[node].parent) {
    result.insert(result.begin(), table.frames()[table.nodes()[node].frame].place.offset);
  }
  return result;
}

std::vector<ShadowFrame> frames_of(const Addresses& stack) {
  std::vector<ShadowFrame> frames;
  uint64_t slot = 0x10000;
  for (uint64_t address : stack) frames.push_back({slot -= 16, address});
  return frames;
}

TEST(ContextTable, ReducesLikeTheReference) {
  std::mt19937 random(7);
  ContextTable table(no_code);
  ContextResolver resolver(table);
  for (int round = 0; round < 2000; ++round) {
    Addresses stack;
    for (size_t depth = random() % 30; depth > 0; --depth) stack.push_back(1 + random() % 12);
    auto frames = frames_of(stack);
    EXPECT_EQ(stack_of(table, resolver.resolve(frames, 0)), reduce(stack));
  }
}

TEST(ContextTable, ResolvedFramesAreExtendedNotResolvedAgain) {
  ContextTable table(no_code);
  ContextResolver resolver(table);
  auto frames = frames_of({1, 2, 3});
  resolver.resolve(frames, 0);
  const uint32_t node = frames[1].node;
  frames.pop_back();
  frames.push_back({frames.back().slot - 16, 1});
  EXPECT_EQ(stack_of(table, resolver.resolve(frames, 0)), (Addresses{2, 1}));
  EXPECT_EQ(frames[1].node, node);
}

TEST(ContextTable, DeepRecursionMakesFewNodes) {
  ContextTable table(no_code);
  ContextResolver resolver(table);
  std::vector<ShadowFrame> frames{{1 << 30, 1}};
  for (uint64_t depth = 0; depth < 100000; ++depth) {
    frames.push_back({(1 << 30) - 16 * (depth + 1), 2 + depth % 3});
    resolver.resolve(frames, 0);
  }
  EXPECT_LT(table.nodes().size(), 20u);
}

TEST(ContextTable, FramesBelowTheWrapperAreLeftOut) {
  ContextTable table(no_code);
  ContextResolver resolver(table);
  auto frames = frames_of({1, 2, 3});
  EXPECT_EQ(stack_of(table, resolver.resolve(frames, frames[1].slot)), (Addresses{1, 2}));
}

TEST(ContextTable, DistancesAreConstantOrVaried) {
  ContextTable table(no_code);
  ContextResolver resolver(table);
  std::vector<ShadowFrame> a{{0x1000, 1}, {0xF00, 2}, {0xE00, 3}};
  std::vector<ShadowFrame> b{{0x1000, 1}, {0xF00, 2}, {0xD00, 3}};
  resolver.resolve(a, 0);
  EXPECT_EQ(table.frames()[0].distance, 0);
  EXPECT_EQ(table.frames()[1].distance, 0x100);
  resolver.resolve(b, 0);
  EXPECT_EQ(table.frames()[1].distance, 0x100);
  EXPECT_EQ(table.frames()[2].distance, -1);
}

TEST(ContextTable, TooManyNodesFallBackToTheEmptyStack) {
  ContextTable table(no_code, 8);
  ContextResolver resolver(table);
  for (uint64_t at = 1; at < 50; ++at) {
    auto frames = frames_of({at, at + 1});
    const base::NodeId node = resolver.resolve(frames, 0);
    if (at > 10) {
      EXPECT_EQ(node, base::NodeId{0});
    }
  }
  EXPECT_EQ(table.nodes().size(), 8u);
}

__attribute__((noinline)) uint64_t code_here() {
  return reinterpret_cast<uint64_t>(__builtin_return_address(0));
}

TEST(ModuleTable, FindsThisProgramAndItsBuildId) {
  const auto of_recorder = [](const MapsLine&) { return false; };
  ModuleTable table(
      [&](const CodeVisitor& visit) { for_each_live_code(getpid(), of_recorder, visit); });
  const CodePlace place = table.locate(code_here());
  ASSERT_GE(place.module, 0);
  EXPECT_NE(table.modules()[size_t(place.module)].path.find("record-tests"), std::string::npos);
  EXPECT_EQ(table.locate(16).module, -1);
}

}  // namespace
}  // namespace halo::record
