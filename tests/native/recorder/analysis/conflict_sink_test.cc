// Conflict edges and interference against literal references with lists.
#include "recorder/analysis/conflicts/conflict_sink.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "recorder/analysis/analysis.h"

namespace halo::sinks {
namespace {

using base::ThreadId;
using events::Kind;
using events::Record;

constexpr uint64_t kBase = 0x100000, kLine = 64;

simulator::Machine small_machine() {
  simulator::Machine machine;
  machine.caches = {{"L1D", {4, 2}, 0}};
  machine.tlbs = {{"DTLB", {2, 2}, 0}};
  return machine;
}

class ConflictSinkTest : public testing::Test {
 protected:
  void feed(Record record) { analysis.consume(ThreadId{0}, {&record, 1}); }
  void alloc(uint64_t address, uint64_t size, uint32_t node) {
    feed(Record::make(Kind::kAlloc, address, size));
    feed(Record::make(Kind::kContext, 0, node));
  }
  void free(uint64_t address) { feed(Record::make(Kind::kFree, address, 0)); }
  void access(uint64_t address) { feed(Record::access(address, 3, false, 0, 1)); }
  Conflicts result() { return analysis.finish().of<Conflicts>(); }

  Analysis analysis{Parameters{}.with<ConflictSink>({small_machine(), 1})};
};

struct SlowCounts {
  uint64_t conflict = 0, collision = 0, lines = 0;
};

// One list of lines in order of use, from which all else follows.
class SlowModel {
 public:
  SlowModel(uint64_t sets, uint64_t ways) : sets_(sets), ways_(ways) {}

  void use(uint64_t line, uint32_t state) {
    if (!order_.empty() && order_.front() == line) {
      user_[line] = state;
      return;
    }
    const auto at = std::find(order_.begin(), order_.end(), line);
    std::vector<uint64_t> newer(order_.begin(), at), in_set;
    for (const uint64_t other : newer)
      if (other % sets_ == line % sets_ && in_set.size() < ways_) in_set.push_back(other);
    if (at != order_.end()) {
      if (in_set.size() == ways_) count_miss(state, newer.size() < sets_ * ways_, in_set);
      if (state != 0) count_reuse(state, newer);
      order_.erase(at);
    }
    order_.push_front(line);
    user_[line] = state;
  }

  std::map<std::pair<uint32_t, uint32_t>, SlowCounts> pairs;
  std::map<uint32_t, uint64_t> conflict, capacity, reuses, far;

 private:
  void count_miss(uint32_t state, bool shadowed, const std::vector<uint64_t>& in_set) {
    ++(shadowed ? conflict : capacity)[state];
    for (const uint64_t other : in_set) {
      SlowCounts& pair = pairs[{state, user_[other]}];
      pair.conflict += shadowed;
      ++pair.collision;
    }
  }
  void count_reuse(uint32_t state, const std::vector<uint64_t>& newer) {
    if (newer.size() >= 2 * sets_ * ways_) {
      ++far[state];
    } else if (newer.size() >= ways_) {
      ++reuses[state];
      for (const uint64_t other : newer) ++pairs[{state, user_[other]}].lines;
    }
  }

  uint64_t sets_, ways_;
  std::list<uint64_t> order_;
  std::map<uint64_t, uint32_t> user_;
};

TEST_F(ConflictSinkTest, AgreesWithASlowReference) {
  constexpr uint64_t kObjects = 24;
  for (uint64_t at = 0; at < kObjects; ++at)
    alloc(kBase + at * 128, at % 2 == 0 ? 64 : 40, uint32_t(1 + at % 3));
  SlowModel slow(4, 2);
  std::mt19937 random(1);
  for (int step = 0; step < 20000; ++step) {
    const uint64_t at = random() % 8 != 0 ? random() % 6 : random() % kObjects;
    const uint64_t offset = random() % 16 * 8;
    access(kBase + at * 128 + offset);
    const bool inside = offset < (at % 2 == 0 ? 64u : 40u);
    // The states in the order of their first use: six pairs of context and size.
    slow.use((kBase + at * 128 + offset) / kLine, inside ? uint32_t(1 + at % 6) : 0);
  }
  const Conflicts found = result();
  ASSERT_EQ(found.states.size(), 7u);
  uint64_t conflicts = 0, edges = 0;
  for (uint32_t state = 0; state < 7; ++state) {
    const StateCounts& counts = found.states[state].counts;
    EXPECT_EQ(counts.conflict, slow.conflict[state]) << state;
    EXPECT_EQ(counts.capacity, slow.capacity[state]) << state;
    EXPECT_EQ(counts.reuses, slow.reuses[state]) << state;
    EXPECT_EQ(counts.far, slow.far[state]) << state;
    conflicts += counts.conflict;
  }
  ASSERT_EQ(found.pairs.size(), slow.pairs.size());
  for (const RecordedPair& pair : found.pairs) {
    const SlowCounts& expected = slow.pairs[{pair.first, pair.second}];
    EXPECT_EQ(pair.count.conflict, expected.conflict);
    EXPECT_EQ(pair.count.collision, expected.collision);
    EXPECT_EQ(pair.count.lines, expected.lines);
    edges += pair.count.conflict;
  }
  EXPECT_GT(conflicts, 100u);
  EXPECT_EQ(edges, 2 * conflicts) << "each conflict miss has an edge to each of the set's lines";
}

// The mean numbers of lines between uses, by pair of states.
std::map<std::pair<uint32_t, uint32_t>, double> interference(const Conflicts& found) {
  std::map<std::pair<uint32_t, uint32_t>, double> means;
  for (const RecordedPair& pair : found.pairs) {
    const uint64_t reuses = found.states[pair.first].counts.reuses;
    if (reuses != 0) means[{pair.first, pair.second}] = double(pair.count.lines) / double(reuses);
  }
  return means;
}

TEST(ConflictSink, SamplingMeasuresTheSameInterference) {
  Analysis sampled{Parameters{}.with<ConflictSink>({small_machine(), 0})};
  Analysis whole{Parameters{}.with<ConflictSink>({small_machine(), 1})};
  const auto feed = [&](Record record) {
    sampled.consume(ThreadId{0}, {&record, 1});
    whole.consume(ThreadId{0}, {&record, 1});
  };
  // The third state is rare: its 400 uses must all be examined.
  constexpr uint64_t kObjects = 14;
  constexpr int kSteps = 8 * ConflictSink::kFirstPeriod;
  for (uint64_t at = 0; at <= kObjects; ++at) {
    feed(Record::make(Kind::kAlloc, kBase + at * 256, 64));
    feed(Record::make(Kind::kContext, 0, at == kObjects ? 3 : at % 4 == 0 ? 1 : 2));
  }
  std::mt19937 random(1);
  for (int step = 0; step < kSteps; ++step) {
    const uint64_t at = step % (kSteps / 400) == 0 ? kObjects : random() % kObjects;
    feed(Record::access(kBase + at * 256, 3, false, 0, 1));
  }
  const Conflicts all = whole.finish().of<Conflicts>(), some = sampled.finish().of<Conflicts>();
  const auto exact = interference(all), estimated = interference(some);
  ASSERT_GE(exact.size(), 4u);
  for (const auto& [pair, lines] : exact)
    EXPECT_NEAR(estimated.at(pair), lines, 0.1 * lines + 0.01);
  for (size_t state = 1; state < all.states.size(); ++state) {
    const StateCounts &counts = some.states[state].counts, &right = all.states[state].counts;
    const double uses = double(right.reuses + right.far);
    EXPECT_NEAR(double(counts.reuses + counts.far), uses, 0.01 * uses);
  }
  EXPECT_EQ(some.states[3].counts.reuses, all.states[3].counts.reuses);
  EXPECT_NE(some.states[2].counts.reuses, all.states[2].counts.reuses) << "some are left out";
}

TEST_F(ConflictSinkTest, StatesAreContextsAndBlockSizes) {
  for (uint32_t at = 0; at < 20; ++at) alloc(kBase + at * 256, 8 * (1 + at % 10), 1);
  alloc(kBase + 0x10000, 0, 2);
  free(kBase);
  alloc(kBase, 8, 1);
  const Conflicts found = result();
  ASSERT_EQ(found.states.size(), 1u + 9 + 1);
  EXPECT_EQ(found.states[1].state.size, 8u);
  EXPECT_EQ(found.states[1].counts.objects, 3u);
  EXPECT_EQ(found.states[1].counts.peak, 2u);
  EXPECT_EQ(found.states[9].state.size, ObjectState::kOtherSizes);
  EXPECT_EQ(found.states[9].counts.objects, 4u);
  EXPECT_EQ(found.states[10].state.size, 8u) << "no block is smaller";
}

TEST_F(ConflictSinkTest, CountsAccessesByLineOfTheObject) {
  alloc(kBase + 32, 2048, 1);
  access(kBase + 32);
  access(kBase + 32 + 64);
  access(kBase + 32 + 64 + 56);
  feed(Record::make(Kind::kFlush, 0, 0).with_repeats(3));
  access(kBase + 32 + 2040);
  const Conflicts found = result();
  const StateCounts& counts = found.states[1].counts;
  EXPECT_EQ(counts.accesses, 7u);
  EXPECT_EQ(counts.by_line[0], 1u);
  EXPECT_EQ(counts.by_line[1], 5u);
  EXPECT_EQ(counts.by_line[15], 1u) << "all lines from the sixteenth on";
  EXPECT_EQ(counts.by_slot[0], 2u) << "the first line, and the last one, 32 lines further on";
  EXPECT_EQ(counts.by_slot[16], 1u) << "the second line; the third access is to the same line";
}

TEST_F(ConflictSinkTest, SaysWhichSetsOutsideLinesCompeteFor) {
  alloc(kBase, 64, 1);
  for (int round = 0; round < 10; ++round) {
    access(kBase);
    access(kBase + 4096 + 64 * 4);
    access(kBase + 8192 + 64 * 4);
  }
  const Conflicts found = result();
  EXPECT_EQ(found.states[1].counts.conflict, 9u);
  EXPECT_EQ(found.outside_slots[kBase / kLine % 4 * 16], 27u) << "the object's and the others'";
}

TEST_F(ConflictSinkTest, AForkedChildCountsFromZero) {
  alloc(kBase, 64, 1);
  access(kBase);
  analysis.restart_counts();
  access(kBase);
  const Conflicts found = result();
  EXPECT_EQ(found.states[1].counts.accesses, 1u);
  EXPECT_EQ(found.states[1].counts.objects, 0u);
  EXPECT_EQ(found.states[1].counts.peak, 1u) << "it is still alive";
  EXPECT_EQ(found.states[1].counts.compulsory, 1u);
}

TEST(ConflictSink, RecordsNothingUnlessAskedTo) {
  Analysis plain{Parameters{}};
  EXPECT_FALSE(plain.finish().of<Conflicts>().recorded);
}

}  // namespace
}  // namespace halo::sinks
