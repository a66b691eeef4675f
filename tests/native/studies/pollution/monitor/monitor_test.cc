// How the watch judges objects.
#include "studies/pollution/monitor/monitor.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace halo::watch {
namespace {

class Recorder final : public Actions {
 public:
  void arm(Page page) override { EXPECT_TRUE(armed.insert(page).second); }
  void disarm(Page page) override { EXPECT_EQ(1u, armed.erase(page)); }
  void move(uint64_t, Mapping to) override { moves.push_back(to); }
  void sample(Page, bool) override {}
  void judge(uint64_t, ContextIndex, uint64_t hits, uint64_t misses) override {
    judged.push_back({hits, misses});
  }

  std::set<Page> armed;
  std::vector<Mapping> moves;
  std::vector<std::pair<uint64_t, uint64_t>> judged;
};

class MonitorTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kAddress = 1 << 20;
  static constexpr Page kPage = kAddress / 4096;

  void allocate(uint64_t bytes = 4096) {
    const uint64_t pages = (bytes + 4095) / 4096;
    monitor.allocated(kAddress, bytes, 0, kPage, pages, now);
  }
  void pass(uint64_t accesses, uint64_t misses) {
    now.us += 10;
    now.counters.accesses += accesses;
    now.counters.misses += misses;
    monitor.passed(now);
  }
  void reference(Page page = kPage) {
    ASSERT_EQ(1u, actions.armed.erase(page));
    monitor.referenced(page, now);
  }
  // A pair of references to every armed page with that number of misses between them, and the
  // pause.
  void sample(uint64_t misses) {
    const std::set<Page> pages = actions.armed;
    for (const Page page : pages) reference(page);
    pass(parameters.restrict_lines, 0);
    pass(parameters.restrict_lines, misses);
    for (const Page page : pages)
      if (actions.armed.contains(page)) reference(page);
    now.us += parameters.pause_us;
    monitor.passed(now);
  }
  void end_period() {
    now.us += parameters.period_us;
    monitor.passed(now);
  }

  Parameters parameters;
  Recorder actions;
  Now now;
  Monitor monitor{parameters, 1, &actions};
};

TEST_F(MonitorTest, MissesBeyondTheCacheMakeAPolluter) {
  allocate();
  sample(parameters.open_lines + 1);
  sample(parameters.open_lines + 1);
  ASSERT_EQ(1u, actions.judged.size());
  EXPECT_EQ(std::pair(uint64_t{0}, uint64_t{2}), actions.judged[0]);
}

TEST_F(MonitorTest, AsManyMissesAsTheCacheHasLinesAreAHit) {
  allocate();
  sample(parameters.open_lines);
  EXPECT_EQ(1u, monitor.counts().hits);
}

TEST_F(MonitorTest, MissesInTheWindowDoNotCount) {
  allocate();
  reference();
  pass(parameters.restrict_lines, 5 * parameters.open_lines);
  pass(parameters.restrict_lines, 0);
  reference();
  EXPECT_EQ(1u, monitor.counts().hits);
}

TEST_F(MonitorTest, APageWhoseReferenceIsLostIsNotJudged) {
  allocate();
  reference();
  pass(parameters.restrict_lines, 0);
  pass(parameters.restrict_lines, 5 * parameters.open_lines);
  actions.armed.erase(kPage);
  EXPECT_TRUE(monitor.lost(kPage, now));
  EXPECT_EQ(1u, monitor.counts().dropped);
  EXPECT_EQ(0u, monitor.counts().misses);
  now.us += parameters.pause_us;
  monitor.passed(now);
  EXPECT_TRUE(actions.armed.contains(kPage)) << "for another pair";
  monitor.freed(kAddress, now);
  EXPECT_EQ(std::pair(uint64_t{0}, uint64_t{0}), actions.judged[0]);
}

TEST_F(MonitorTest, APageThatWaitsForItsFirstReferenceCannotLoseTheSecond) {
  allocate();
  EXPECT_FALSE(monitor.lost(kPage, now));
  EXPECT_EQ(0u, monitor.counts().dropped);
  sample(0);
  EXPECT_EQ(1u, monitor.counts().hits);
}

TEST_F(MonitorTest, ABurstIsNotJudged) {
  allocate();
  reference();
  pass(parameters.restrict_lines, 0);
  pass(parameters.restrict_lines - 1, parameters.restrict_lines - 1);
  reference();
  EXPECT_EQ(1u, monitor.counts().bursts);
  EXPECT_TRUE(actions.armed.empty()) << "a new window is open";
  pass(parameters.restrict_lines, 0);
  EXPECT_TRUE(actions.armed.contains(kPage));
}

TEST_F(MonitorTest, APageThatIsOnlyUsedInBurstsIsDropped) {
  allocate();
  reference();
  for (uint32_t burst = 0; burst < parameters.max_bursts; ++burst) {
    pass(parameters.restrict_lines, 0);
    reference();
  }
  EXPECT_EQ(1u, monitor.counts().dropped);
  EXPECT_EQ(0u, monitor.counts().hits + monitor.counts().misses);
}

TEST_F(MonitorTest, AnOpenPolluterMovesAfterTwoPhases) {
  allocate();
  for (int phase = 0; phase < 2; ++phase) {
    EXPECT_TRUE(actions.moves.empty());
    sample(parameters.open_lines + 1);
    sample(parameters.open_lines + 1);
    end_period();
  }
  EXPECT_EQ(std::vector{Mapping::kRestrictive}, actions.moves);
  for (int phase = 0; phase < 2; ++phase) {
    sample(0);
    sample(0);
    end_period();
  }
  EXPECT_EQ((std::vector{Mapping::kRestrictive, Mapping::kOpen}), actions.moves);
  EXPECT_TRUE(actions.armed.empty()) << "it is not watched any more";
}

TEST_F(MonitorTest, ANormalObjectIsWatchedForOnePhase) {
  allocate();
  sample(0);
  sample(0);
  EXPECT_EQ(Deadlines::kNever, monitor.next_us());
  EXPECT_TRUE(actions.armed.empty());
}

TEST_F(MonitorTest, LargeObjectsHaveMoreRounds) {
  allocate(64 << 10);
  int rounds = 0;
  for (; actions.judged.empty(); ++rounds) sample(0);
  EXPECT_EQ(5, rounds);
}

TEST_F(MonitorTest, PagesThatAreFreedBeforeTheirSecondReferenceMissIfTheCacheIsGone) {
  allocate();
  reference();
  pass(parameters.restrict_lines, 0);
  pass(parameters.open_lines, parameters.open_lines);
  monitor.freed(kAddress, now);
  EXPECT_EQ(1u, monitor.counts().misses);
  EXPECT_TRUE(actions.armed.empty());
  allocate();
  reference();
  pass(parameters.restrict_lines, 0);
  pass(parameters.open_lines, parameters.open_lines - 1);
  monitor.freed(kAddress, now);
  EXPECT_EQ(1u, monitor.counts().misses);
  ASSERT_EQ(2u, actions.judged.size());
  EXPECT_EQ(std::pair(uint64_t{0}, uint64_t{0}), actions.judged[1]);
}

TEST_F(MonitorTest, APhaseEndsWithWhatItHas) {
  allocate(64 << 10);
  sample(parameters.open_lines + 1);
  now.us += parameters.timeout_us;
  monitor.passed(now);
  ASSERT_EQ(1u, actions.judged.size());
  EXPECT_EQ(0u, actions.judged[0].first);
  EXPECT_LT(0u, actions.judged[0].second);
  EXPECT_TRUE(actions.armed.empty());
}

TEST_F(MonitorTest, PagesThatWaitWhenAPhaseTimesOutMissIfTheCacheIsGone) {
  allocate();
  reference();
  pass(parameters.restrict_lines, 0);
  pass(parameters.open_lines, parameters.open_lines);
  now.us += parameters.timeout_us;
  monitor.passed(now);
  ASSERT_EQ(1u, actions.judged.size());
  EXPECT_EQ(std::pair(uint64_t{0}, uint64_t{1}), actions.judged[0]);
  EXPECT_TRUE(actions.armed.empty());
}

TEST_F(MonitorTest, PagesThatWaitWhenAPhaseTimesOutSayNothingIfTheCacheIsNot) {
  allocate();
  reference();
  pass(parameters.restrict_lines, 0);
  pass(parameters.open_lines, parameters.open_lines - 1);
  now.us += parameters.timeout_us;
  monitor.passed(now);
  EXPECT_TRUE(actions.judged.empty());
}

// As large as the cache: its waiting pages would be misses if it ended.
TEST_F(MonitorTest, AnObjectThatLivesOnSaysNothingByItsWaitingPages) {
  const uint64_t bytes = parameters.open_lines * parameters.line_bytes;
  for (const bool ends : {false, true}) {
    actions.judged.clear();
    monitor.allocated(kAddress, bytes, 0, kPage, 1, now);
    reference();
    pass(parameters.restrict_lines, 0);
    pass(parameters.restrict_lines, 1);
    if (ends) {
      monitor.freed(kAddress, now);
    } else {
      monitor.stop_watching(kAddress, now);
    }
    EXPECT_EQ(ends ? 1u : 0u, actions.judged.size() == 0 ? 0u : actions.judged[0].second);
    EXPECT_TRUE(actions.armed.empty());
  }
}

TEST_F(MonitorTest, AContextLearnsNothingFromAnObjectThatLivesOnWithoutSamples) {
  for (int object = 0; object < 4; ++object) {
    allocate();
    monitor.stop_watching(kAddress, now);
  }
  EXPECT_EQ(0u, monitor.predictor().score().confirmed);
  for (int object = 0; object < 4; ++object) {
    allocate();
    monitor.freed(kAddress, now);
  }
  EXPECT_EQ(1u, monitor.predictor().score().confirmed) << "of two known ones; then one is skipped";
}

TEST_F(MonitorTest, AContextWaitsForAFewObjectsOnly) {
  for (uint64_t at = 0; at < parameters.max_pending + 5; ++at)
    monitor.allocated(kAddress + (at << 20), 4096, 0, kPage + (at << 8), 1, now);
  EXPECT_EQ(parameters.max_pending, monitor.counts().watched);
  monitor.freed(kAddress, now);
  monitor.allocated(kAddress, 4096, 0, kPage, 1, now);
  EXPECT_EQ(parameters.max_pending + 1, monitor.counts().watched);
}

TEST_F(MonitorTest, AnObjectWithoutReferencesIsGivenUp) {
  allocate();
  now.us += parameters.timeout_us;
  monitor.passed(now);
  EXPECT_EQ(1u, monitor.counts().expired);
  EXPECT_TRUE(actions.judged.empty() && actions.armed.empty());
  EXPECT_EQ(Deadlines::kNever, monitor.next_us());
}

TEST_F(MonitorTest, WithoutRoomObjectsAreNotWatched) {
  Parameters small = parameters;
  small.max_objects = 2;
  small.max_pages = 8;
  Monitor full(small, 4, &actions);
  full.allocated(kAddress, 16 * 4096, 0, kPage, 16, now);
  EXPECT_EQ(7u, actions.armed.size());
  full.allocated(2 * kAddress, 16 * 4096, 1, 2 * kPage, 16, now);
  EXPECT_EQ(7u, actions.armed.size());
  EXPECT_EQ(1u, full.counts().skipped);
  full.freed(kAddress, now);
  full.allocated(2 * kAddress, 16 * 4096, 2, 2 * kPage, 16, now);
  EXPECT_EQ(7u, actions.armed.size());
}

}  // namespace
}  // namespace halo::watch
