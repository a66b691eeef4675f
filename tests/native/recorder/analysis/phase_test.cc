// The code of a phase: its description, and its place in this process.
#include "recorder/analysis/phase.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

extern "C" const char __executable_start[];  // defined by the linker

namespace halo::sinks {
namespace {

TEST(PhaseCode, IsRangesAndAPath) {
  const auto code = parse_phase("1a0-1b0+2000-2001@/a/b@c");
  ASSERT_TRUE(code.has_value());
  ASSERT_EQ(code->ranges.size(), 2u);
  EXPECT_EQ(code->ranges[0].begin, 0x1a0u);
  EXPECT_EQ(code->ranges[1].end, 0x2001u);
  EXPECT_EQ(code->path, "/a/b@c");
}

TEST(PhaseCode, OfAnotherTextIsNothing) {
  for (const char* text : {"", "1-2", "1-2@", "1-2@a", "2-1@/a", "1-2+@/a", "1@/a", "x-y@/a"})
    EXPECT_FALSE(parse_phase(text).has_value()) << text;
}

void somewhere() { asm volatile(""); }

TEST(Phase, SpansTheAccessesByItsCode) {
  char path[PATH_MAX] = {};
  ASSERT_GT(readlink("/proc/self/exe", path, sizeof path - 1), 0);
  // The file offset of `somewhere` equals its distance from the image, up to the segment's shift.
  const uint64_t code = reinterpret_cast<uint64_t>(&somewhere);
  const uint64_t offset = code - reinterpret_cast<uint64_t>(__executable_start);
  Phase phase;
  phase.locate({path, {{offset, offset + 1}}}, getpid());
  // The recorder reads the memory map again and again.
  phase.locate({path, {{offset, offset + 1}}}, getpid());
  EXPECT_EQ(phase.places().size(), 1u);
  phase.access(code + 1, 4);
  EXPECT_FALSE(phase.span(20).has_value());
  phase.access(code, 5);
  phase.access(code, 9);
  ASSERT_TRUE(phase.span(20).has_value());
  EXPECT_EQ(phase.span(20)->first, 5u);
  EXPECT_EQ(phase.span(20)->last, 9u);
  phase.restart();
  EXPECT_FALSE(phase.span(20).has_value());
}

using Bounds = std::pair<uint64_t, uint64_t>;

std::optional<Bounds> bounds(const Phase& phase, uint64_t accesses) {
  const auto span = phase.span(accesses);
  return span ? std::optional(Bounds{span->first, span->last}) : std::nullopt;
}

TEST(Phase, IsFromTheFirstEntryToTheLastExit) {
  Phase phase;
  phase.enter(3);
  phase.enter(5);  // recursion
  phase.leave(7);
  phase.leave(8);
  EXPECT_EQ(bounds(phase, 20), Bounds(3, 7));
  phase.enter(12);
  phase.leave(15);
  EXPECT_EQ(bounds(phase, 20), Bounds(3, 14));
}

TEST(Phase, WithoutAnExitIsUpToTheEnd) {
  Phase phase;
  phase.enter(0);
  EXPECT_EQ(bounds(phase, 20), Bounds(0, 19));
  EXPECT_FALSE(phase.span(0).has_value());
}

TEST(Phase, WithoutAnAccessIsNone) {
  for (const uint64_t at : {0u, 4u}) {
    Phase phase;
    phase.leave(at);  // of a function that was entered before the trace began
    EXPECT_FALSE(phase.span(20).has_value());
    phase.enter(at);
    phase.leave(at);
    EXPECT_FALSE(phase.span(20).has_value());
  }
}

}  // namespace
}  // namespace halo::sinks
