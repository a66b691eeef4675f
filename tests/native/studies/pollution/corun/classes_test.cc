// Which objects are confined.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

#include "studies/pollution/corun/learner.h"
#include "studies/pollution/corun/mapping.h"
#include "studies/pollution/corun/reuse_classes.h"
#include "studies/pollution/corun/watched_classes.h"
#include "synthetic_program.h"

namespace halo::corun {
namespace {

constexpr base::ThreadId kThread{0};

// Two contexts: objects of the first are swept, with more lines than the cache; that of the second
// is used again soon.
template <class Visitor>
void sweep(Visitor& program, int rounds, const auto& each_round) {
  constexpr uint64_t kBase = 1 << 24, kLines = 2000;
  program.allocate({1, kBase, kLines * 64, base::ContextId{0}});
  program.allocate({2, kBase << 1, 200 * 64, base::ContextId{1}});
  for (int round = 0; round < rounds; ++round) {
    for (uint64_t line = 0; line < kLines; ++line) {
      program.access(kThread, 1, uint32_t(line * 64), 8, false);
      program.access(kThread, 2, uint32_t(line % 200 * 64), 8, true);
    }
    each_round();
  }
}

TEST(ReuseClasses, ASweptObjectPollutes) {
  ReuseClasses reuse(128, 1024, 0.9);
  ProgramReplay replay(small_machine(false), UINT64_MAX, reuse);
  sweep(replay, 4, [] {});
  EXPECT_TRUE(reuse.pollutes(0));
  EXPECT_FALSE(reuse.pollutes(1));
  EXPECT_FALSE(reuse.pollutes(2)) << "no such context";
}

TEST(ReuseClasses, BurstsDoNotCount) {
  ReuseClasses reuse(4, 8, 0.9);
  reuse.allocated({1, 0, 4096, base::ContextId{0}});
  const auto use = [&](uint32_t name) { reuse.requested({RequestKind::kDemand, {name, name}, 1}); };
  for (uint32_t name = 1; name <= 20; ++name)
    for (int burst = 0; burst < 9; ++burst) use(name);
  EXPECT_TRUE(reuse.pollutes(0)) << "20 misses, no hit";
  for (int again = 0; again < 3; ++again)
    for (uint32_t name = 1; name <= 6; ++name) use(name);
  EXPECT_FALSE(reuse.pollutes(0)) << "26 misses, 12 hits";
}

TEST(WatchedClasses, TheWatchMovesASweptObject) {
  StreamSettings settings = settings_for(small_machine(false));
  const TemporaryFile file;
  ReuseClasses reuse(128, 1024, 0.9);
  StreamWriter writer(file.path());
  WatchedClasses learnt(settings.watch);
  watch::Now end;
  for (int run = 0; run < 2; ++run) {
    Learner learner(Alone(settings.machine, settings.megahertz), end, learnt, nullptr);
    ProgramReplay replay(settings.machine, UINT64_MAX, learner);
    learner.follow(replay);
    sweep(replay, 200, [] {});
    end = learner.finish();
  }
  StreamRecorder recorder(settings, reuse, learnt, end, writer);
  ProgramReplay replay(settings.machine, UINT64_MAX, recorder);
  recorder.follow(replay);
  sweep(replay, 200, [] {});
  const StreamSummary summary = recorder.finish(true);
  EXPECT_LE(1u, summary.watch.moves);
  const Stream stream = read_stream(file.path());
  uint64_t moved = 0, others = 0;
  for (const OwnerEntry& owner : stream.owners) {
    EXPECT_EQ(0, owner.predicted) << "each context has one object";
    if (owner.is_object == 0 || owner.context != 0) continue;
    (owner.online != 0 ? moved : others) += owner.requests;
    EXPECT_EQ(1, owner.learnt) << "from its first request on";
  }
  for (const OwnerEntry& owner : stream.owners) {
    if (owner.is_object == 0 || owner.context != 1) continue;
    EXPECT_EQ(0, owner.online);
    EXPECT_EQ(0, owner.learnt);
  }
  EXPECT_LT(others, moved);
}

Stream stream_with(std::vector<OwnerEntry> owners) {
  Stream stream;
  stream.owners = std::move(owners);
  return stream;
}

TEST(Mapping, ConfinesByClass) {
  const Stream stream = stream_with({{50, 0, 0, 0, 0, 0, 0, {}},
                                     {50, 1, 1, 1, 0, 0, 0, {}},
                                     {50, 2, 1, 0, 1, 0, 0, {}},
                                     {50, 3, 1, 0, 0, 1, 0, {}}});
  const simulator::Machine machine = small_machine(false);
  const auto confined = [&](Classes classes) {
    return confined_owners(machine, colours_of(machine), {&stream}, classes, 1).front();
  };
  using Bits = std::vector<bool>;
  EXPECT_EQ((Bits{false, false, false, false}), confined(Classes::kOpen));
  EXPECT_EQ((Bits{false, true, false, false}), confined(Classes::kExact));
  EXPECT_EQ((Bits{false, false, true, false}), confined(Classes::kPredicted));
  EXPECT_EQ((Bits{false, false, false, true}), confined(Classes::kOnline));
  EXPECT_EQ((Bits{false, true, true, true}), confined(Classes::kConfined));
}

TEST(Mapping, RandomContextsAreAsManyAsExactOnes) {
  const Stream one = stream_with({{500, 0, 0, 0, 0, 0, 0, {}},
                                  {50, 1, 1, 1, 0, 0, 0, {}},
                                  {60, 1, 1, 1, 0, 1, 0, {}},
                                  {50, 2, 1, 0, 0, 0, 0, {}}});
  const Stream other = stream_with({{1, 0, 0, 0, 0, 0, 0, {}},
                                    {50, 7, 1, 1, 0, 0, 0, {}},
                                    {50, 8, 1, 0, 0, 0, 0, {}},
                                    {50, 9, 1, 0, 0, 0, 0, {}}});
  const simulator::Machine machine = small_machine(false);
  std::set<std::vector<std::vector<bool>>> seen;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const auto confined =
        confined_owners(machine, colours_of(machine), {&one, &other}, Classes::kRandom, seed);
    EXPECT_FALSE(confined[0][0] || confined[1][0]) << "memory outside objects stays open";
    EXPECT_EQ(confined[0][1], confined[0][2]) << "one context";
    int contexts = confined[0][1] + confined[0][3];
    for (size_t owner = 1; owner < 4; ++owner) contexts += confined[1][owner];
    EXPECT_EQ(2, contexts);
    seen.insert(confined);
  }
  EXPECT_LT(5u, seen.size());
}

}  // namespace
}  // namespace halo::corun
