// Bursts: all accesses at first, then a falling share with rising weights.
#include "recorder/valgrind/bursts.h"

#include <gtest/gtest.h>

#include <functional>

namespace halo::valgrind {
namespace {

constexpr uint64_t kManyWords = Bursts::kWholeWords;

// The recorded superblocks of a program, by kind.
struct Tally {
  uint64_t executed[2] = {}, weights[2] = {}, recorded = 0, reported = 0;

  void expect_even(double tolerance) const {
    for (const int kind : {0, 1})
      EXPECT_NEAR(double(weights[kind]), double(executed[kind]), tolerance * double(executed[kind]))
          << "kind " << kind;
  }
};

struct Program {
  uint64_t blocks;
  std::function<uint64_t()> run_length = [] { return 100'000; };  // of a thread, at most 100,000
  uint64_t every = 1;  // one superblock in this many has accesses
  // The kind of a superblock, by the progress of its thread's run.
  std::function<int(uint64_t)> kind = [](uint64_t) { return 0; };
  uint64_t words = kManyWords;
};

Tally record(const Program& program) {
  Bursts bursts;
  Tally result;
  for (uint64_t blocks = 0; blocks < program.blocks;) {
    const uint64_t length = program.run_length();
    bursts.resume(blocks, 100'000);
    for (uint64_t block = 0; block < length; ++block, ++blocks) {
      const auto counter = uint32_t(100'000 - block);
      if (block % program.every == 0 && counter <= bursts.collect_at())
        result.reported += bursts.update(counter, program.words) == Bursts::Change::kBegins;
      const int kind = program.kind(block);
      ++result.executed[kind];
      if (!bursts.recording()) continue;
      ++result.recorded;
      result.weights[kind] += bursts.weight();
    }
  }
  return result;
}

std::function<uint64_t()> random_lengths(uint64_t max) {
  return [max, seed = uint64_t(1)]() mutable {
    seed = seed * 6364136223846793005 + 1442695040888963407;
    return 1 + (seed >> 33) % max;
  };
}

TEST(Bursts, ShortProgramsAreRecordedAsAWhole) {
  const Tally found = record({.blocks = Bursts::kPeriod * Bursts::kWholePeriods});
  EXPECT_EQ(found.recorded, found.executed[0]);
  EXPECT_EQ(found.reported, 0u);
}

TEST(Bursts, ProgramsThatSendLittleAreRecordedAsAWholeForLonger) {
  const uint64_t longest = Bursts::kPeriod * Bursts::kMaxWholePeriods;
  const Tally found = record({.blocks = longest, .words = kManyWords - 1});
  EXPECT_EQ(found.recorded, found.executed[0]);
  const Tally longer = record({.blocks = 2 * longest, .words = kManyWords - 1});
  EXPECT_LT(longer.recorded, longest + longest / 4);
  longer.expect_even(0.02);
}

TEST(Bursts, WeightsMakeUpForWhatIsLeftOut) {
  for (const uint64_t every : {1, 3, 10}) {
    const Tally found = record({.blocks = Bursts::kPeriod * 500, .every = every});
    EXPECT_LT(found.recorded, found.executed[0] / 4);
    found.expect_even(0.02);
  }
}

TEST(Bursts, TheShareHasAMinimum) {
  Bursts bursts;
  bursts.resume(Bursts::kPeriod * Bursts::kWholePeriods * Bursts::kMaxWeight * 10, 0);
  bursts.update(0, kManyWords);
  EXPECT_EQ(bursts.weight(), Bursts::kMaxWeight);
}

// Waiting threads are resumed at any time, and run until they wait or the core preempts them.
TEST(Bursts, WeightsMakeUpForWhatIsLeftOutOfThreadsThatWait) {
  for (const uint64_t longest : {5'000ul, 60'000ul, 100'000ul}) {
    const Tally found = record(
        {.blocks = Bursts::kPeriod * 1000, .run_length = random_lengths(longest), .every = 2});
    found.expect_even(0.03);
  }
}

// A server's thread takes a request when it is resumed, and then processes it.
TEST(Bursts, WhatThreadsDoFirstIsRecordedAsOftenAsTheRest) {
  const auto kind = [](uint64_t block) { return int(block >= 300); };
  for (const uint64_t longest : {3'000ul, 100'000ul})
    record({.blocks = Bursts::kPeriod * 4000, .run_length = random_lengths(longest), .kind = kind})
        .expect_even(longest == 3'000 ? 0.03 : 0.2);
}

// Even if its length is that of a period.
TEST(Bursts, EachPartOfWhatRepeatsIsRecordedAsOften) {
  const auto kind = [](uint64_t block) { return int(block >= 20'000); };
  record({.blocks = Bursts::kPeriod * 4000, .kind = kind}).expect_even(0.03);
}

// A phase of computation without an access.
TEST(Bursts, BurstsWithoutAnAccessArePassedOver) {
  Bursts bursts;
  uint64_t blocks = 0;
  const auto go_on = [&](uint64_t more) {
    blocks += more;
    bursts.resume(blocks, 100'000);
    return bursts.update(100'000, kManyWords);
  };
  while (bursts.weight() < 3) go_on(1'000);
  while (bursts.recording()) go_on(1'000);
  for (int pause = 0; pause < 50; ++pause) {
    go_on(Bursts::kPeriod * 10);
    uint64_t recorded = 0;
    const uint64_t length = Bursts::kPeriod / bursts.weight();
    while (bursts.recording()) {
      go_on(1'000);
      recorded += 1'000;
    }
    EXPECT_LE(recorded, length + 1'000);
  }
}

}  // namespace
}  // namespace halo::valgrind
