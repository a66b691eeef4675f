// The attribution of misses, compared with a hierarchy driven directly.
#include "recorder/analysis/simulator_sink.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "recorder/analysis/analysis.h"

namespace halo::sinks {
namespace {

using base::ThreadId;
using events::Kind;
using events::Record;

simulator::Machine small_machine() {
  simulator::Machine machine;
  machine.caches = {{"L1D", {4, 2}, 0}, {"L2", {16, 4}, 10}};
  machine.tlbs = {{"DTLB", {2, 2}, 0}};
  return machine;
}

class SimulatorSinkTest : public testing::Test {
 protected:
  void feed(Record record) { analysis.consume(ThreadId{0}, {&record, 1}); }
  void alloc(uint64_t address, uint64_t size, uint32_t node) {
    feed(Record::make(Kind::kAlloc, address, size));
    feed(Record::make(Kind::kContext, 0, node));
  }
  void access(uint64_t address, uint64_t code, bool store = false) {
    feed(Record::access(address, 3, store, 0, code));
  }
  Simulation result() { return analysis.finish().of<Simulation>(); }

  Analysis analysis{Parameters{}.with<SimulatorSink>({small_machine()})};
};

TEST_F(SimulatorSinkTest, CountsForContextsCodeAndObjectsWhatAHierarchyMisses) {
  std::mt19937 random(1);
  simulator::Hierarchy by_hand(small_machine());
  constexpr uint64_t kBase = 0x100000, kStep = 128, kObjects = 40;
  for (uint64_t at = 0; at < kObjects; ++at) alloc(kBase + at * kStep, 64, uint32_t(1 + at % 3));
  std::map<uint64_t, Tally> contexts, code;
  std::map<uint64_t, uint32_t> objects;
  for (int step = 0; step < 20000; ++step) {
    const uint64_t object = random() % kObjects, at = random() % kStep / 8 * 8;
    const uint64_t address = kBase + object * kStep + at, place = 100 + random() % 5;
    const bool store = random() % 2 == 0;
    access(address, place, store);
    Tally& tally = contexts[at < 64 ? object % 3 : 3];
    ++tally.accesses;
    const simulator::Reach reach = by_hand.access(address, 8, store);
    if ((reach.cache | reach.tlb) == 0) continue;
    tally.miss(reach, by_hand.cycles_of(reach));
    code[place].miss(reach, by_hand.cycles_of(reach));
    if (at < 64 && reach.cache > 0) ++objects[object + 1];
  }
  const Simulation found = result();
  ASSERT_TRUE(found.simulated);
  EXPECT_EQ(found.cycles, by_hand.cycles());
  ASSERT_EQ(found.contexts.size(), 3u);
  const auto expect_same = [](const Tally& tally, const Tally& expected) {
    EXPECT_EQ(tally.accesses, expected.accesses);
    EXPECT_EQ(tally.cycles, expected.cycles);
    EXPECT_EQ(tally.cache_misses, expected.cache_misses);
    EXPECT_EQ(tally.tlb_misses, expected.tlb_misses);
  };
  for (size_t context = 0; context < 3; ++context)
    expect_same(found.contexts[context], contexts[context]);
  expect_same(found.outside, contexts[3]);
  ASSERT_EQ(found.code.size(), code.size());
  for (const CodeTally& one : found.code) expect_same(one.tally, code[one.code]);
  for (size_t at = 1; at < found.code.size(); ++at)
    EXPECT_GE(found.code[at - 1].tally.cycles, found.code[at].tally.cycles);
  ASSERT_EQ(found.objects.size(), objects.size());
  for (const ObjectTally& object : found.objects)
    EXPECT_EQ(object.misses, objects[object.seq]) << object.seq;
  EXPECT_EQ(found.objects_missed, objects.size());
  EXPECT_GE(found.objects_for_half, objects.size() / 4);
  EXPECT_LE(found.objects_for_half, objects.size() / 2);
}

TEST_F(SimulatorSinkTest, RepeatsCountForTheObjectAccessedLast) {
  alloc(0x100000, 64, 1);
  access(0x100000, 1);
  feed(Record::access(0x200000, 3, false, 0, 2).with_repeats(5));
  feed(Record::make(Kind::kFlush, 0, 0).with_repeats(7));
  const Simulation found = result();
  ASSERT_EQ(found.contexts.size(), 1u);
  EXPECT_EQ(found.contexts[0].accesses, 6u);
  EXPECT_EQ(found.outside.accesses, 8u);
}

TEST_F(SimulatorSinkTest, AForkedChildCountsFromZero) {
  alloc(0x100000, 64, 1);
  access(0x100000, 1);
  analysis.restart_counts();
  feed(Record::make(Kind::kFlush, 0, 0).with_repeats(1));
  access(0x100008, 1);
  const Simulation found = result();
  ASSERT_EQ(found.contexts.size(), 1u);
  EXPECT_EQ(found.contexts[0].accesses, 1u);
  EXPECT_EQ(found.contexts[0].cache_misses[0], 1u) << "its caches are empty";
  EXPECT_EQ(found.objects.size(), 1u);
}

TEST_F(SimulatorSinkTest, HugePagesSurviveBegin) {
  constexpr uint64_t kHuge = 2 << 20;
  simulator::Machine machine = small_machine();
  machine.huge_tlb = {1, 2};
  Analysis huge{Parameters{}.with<SimulatorSink>({machine})};
  const auto misses = [&] {
    const Record flush = Record::make(Kind::kFlush, 0, 0);
    for (uint64_t page = 0; page < 64; ++page) {
      const Record record = Record::access(kHuge + 4096 * page, 3, false, 0, 1);
      huge.consume(ThreadId{0}, {&record, 1});
    }
    huge.consume(ThreadId{0}, {&flush, 1});
    return huge.finish().of<Simulation>().outside.tlb_misses[0];
  };
  const Record request = Record::make(Kind::kHugePages, kHuge, kHuge);
  huge.consume(ThreadId{0}, {&request, 1});
  EXPECT_EQ(misses(), 1u);
  huge.restart_counts();
  EXPECT_EQ(misses(), 1u) << "64 where each small page misses";
}

TEST_F(SimulatorSinkTest, ClassesOfMissesAddUpForEachContext) {
  Analysis classified{Parameters{}.with<SimulatorSink>({small_machine(), 1})};
  const auto consume = [&](Record record) { classified.consume(ThreadId{0}, {&record, 1}); };
  constexpr uint64_t kBase = 0x100000;
  for (uint32_t at = 0; at < 12; ++at) {
    consume(Record::make(Kind::kAlloc, kBase + at * 256, 64));
    consume(Record::make(Kind::kContext, 0, 1 + at / 6));
  }
  std::mt19937 random(1);
  for (int step = 0; step < 5000; ++step) {
    const uint64_t at = random() % 13;  // the last one is not an object
    consume(Record::access(kBase + at * 256 + (random() % 9) * 8, 3, false, 0, 1));
  }
  const Simulation found = classified.finish().of<Simulation>();
  ASSERT_TRUE(found.classified);
  EXPECT_FALSE(found.machine.next_line);
  ASSERT_EQ(found.contexts.size(), 2u);
  for (const Tally& tally : {found.contexts[0], found.contexts[1], found.outside}) {
    const auto& [compulsory, capacity, conflict, anti] = tally.classes;
    EXPECT_EQ(compulsory + capacity + conflict, tally.cache_misses[0]);
    EXPECT_GT(conflict, 0u) << "all objects start in one of four sets";
  }
}

TEST_F(SimulatorSinkTest, NothingIsSimulatedUnlessRequested) {
  Analysis plain{Parameters{}};
  const Record record = Record::access(0x100000, 3, false, 0, 1);
  plain.consume(ThreadId{0}, {&record, 1});
  EXPECT_FALSE(plain.finish().of<Simulation>().simulated);
}

}  // namespace
}  // namespace halo::sinks
