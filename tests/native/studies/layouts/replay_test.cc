// Replays that count a phase: what is before it only warms the caches.
#include "studies/layouts/replay.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace halo::layout {
namespace {

using base::ThreadId;

// Accesses a page twice, and another one between.
Misses replay(PhaseSpan span) {
  const std::vector<uint64_t> addresses = {0, 1 << 20, 1 << 21};
  Replay replay(simulator::this_machine(), addresses, span);
  replay.access(ThreadId{0}, 1, 0, 8, false);
  replay.repeat(ThreadId{0}, 5);
  replay.access(ThreadId{0}, 2, 0, 8, false);
  replay.access_outside(ThreadId{0}, (1 << 20) + 8, 8, false);
  replay.repeat(ThreadId{0}, 7);
  return replay.misses();
}

TEST(Replay, WithoutAPhaseCountsEverything) {
  const Misses found = replay({});
  EXPECT_EQ(found.accesses, 3u + 5 + 7);
  EXPECT_EQ(found.caches[0], 2u);
  EXPECT_EQ(found.tlbs[0], 2u);
}

TEST(Replay, OfAPhaseCountsItsAccessesWithWarmCaches) {
  const Misses last = replay({2, 2});
  EXPECT_EQ(last.accesses, 1u + 7);
  EXPECT_EQ(last.cycles, 0u);
  EXPECT_EQ(last.caches[0], 0u);
  const Misses first = replay({0, 0});
  EXPECT_EQ(first.accesses, 1u + 5);
  EXPECT_EQ(first.caches[0], 1u);
  EXPECT_EQ(replay({3, UINT64_MAX}).accesses, 0u);
}

TEST(Replay, OfAPhaseKnowsTheCyclesOfTheWholeRun) {
  EXPECT_GT(replay({}).run_cycles, 0u);
  EXPECT_EQ(replay({}).run_cycles, replay({}).cycles);
  EXPECT_EQ(replay({2, 2}).run_cycles, replay({}).cycles);
}

TEST(Replay, AddsAccessesThatTakeNoPlaceInTheTrace) {
  const std::vector<uint64_t> addresses = {0, 1 << 20};
  Replay replay(simulator::this_machine(), addresses, {1, 1});
  replay.add(1 << 21, 8);  // before access 0
  replay.leave_out();      // access 0
  replay.repeat(ThreadId{0}, 5);
  replay.add(1 << 22, 8);
  replay.access(ThreadId{0}, 1, 0, 8, false);  // access 1
  replay.add(1 << 23, 8);
  replay.access(ThreadId{0}, 1, 0, 8, false);
  EXPECT_EQ(replay.misses().accesses, 2u);
  EXPECT_EQ(replay.misses().caches[0], 2u);
}

TEST(Replay, CountsFirstLevelMissesOfWatchedObjectsInThePhase) {
  const std::vector<uint64_t> addresses = {0, 1 << 20, 1 << 21};
  const auto watched = [&](PhaseSpan span, std::vector<bool> objects) {
    Replay replay(simulator::this_machine(), addresses, span, std::move(objects));
    replay.access(ThreadId{0}, 1, 0, 8, false);
    replay.access(ThreadId{0}, 2, 0, 8, false);
    replay.access(ThreadId{0}, 2, 8, 8, false);    // hits
    replay.access(ThreadId{0}, 2, 640, 8, false);  // misses the cache, but not the TLB
    replay.access_outside(ThreadId{0}, 1 << 22, 8, false);
    return replay.misses().to_watched;
  };
  EXPECT_EQ(watched({}, {false, true, false}), 1u);
  EXPECT_EQ(watched({}, {false, false, true}), 2u);
  EXPECT_EQ(watched({2, 9}, {false, true, true}), 1u);
  EXPECT_EQ(watched({}, {}), 0u);
}

}  // namespace
}  // namespace halo::layout
