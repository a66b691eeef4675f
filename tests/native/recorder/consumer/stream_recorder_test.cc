// Records of streams become contexts, accesses, and a part.
#include "recorder/consumer/stream_recorder.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>

#include "recorder/consumer/stream_reader.h"
#include "written_part.h"

namespace halo::consumer {
namespace {

using channel::StreamKind;
using events::Kind;
using events::Record;

constexpr base::ThreadId kOne{0}, kOther{1};

Record of_stream(StreamKind kind, uint64_t address, uint64_t word1 = 0) {
  return Record::of_stream(uint8_t(kind), address, word1);
}

class StreamRecorderTest : public testing::Test {
 protected:
  StreamRecorderTest() {
    options_.out = part_prefix();
    recorder_ = std::make_unique<StreamRecorder>(options_);
    recorder_->part().set_process(getpid());
  }

  bool take(std::vector<Record> records, base::ThreadId thread = kOne) {
    return recorder_->consume(thread, records);
  }
  // That many frames are kept, and these return addresses are new, the outermost one first.
  void stack(uint64_t kept, std::vector<uint64_t> added, base::ThreadId thread = kOne) {
    std::vector<Record> records{of_stream(StreamKind::kStack, kept, added.size())};
    for (size_t at = 0; at < added.size(); ++at)
      records.push_back(
          of_stream(StreamKind::kFrame, 0x7FFF00000000 - 16 * (kept + at), added[at]));
    take(records, thread);
  }
  void alloc(uint64_t address, uint64_t size, base::ThreadId thread = kOne, uint64_t place = 0) {
    take({Record::make(Kind::kAlloc, address, size | place << channel::kPlaceShift)}, thread);
  }
  std::string finish() { return written_part(*recorder_, options_.out); }

  record::Options options_;
  std::unique_ptr<StreamRecorder> recorder_;
};

size_t contexts_in(const std::string& part) {
  size_t count = 0;
  for (size_t at = 0; (at = part.find("{\"node\":", at)) != std::string::npos; ++at) ++count;
  return count;
}

TEST_F(StreamRecorderTest, AnAllocationHasTheStackOfBeforeUnlessItIsSent) {
  stack(0, {0x10, 0x20, 0x30});
  alloc(0x10000, 64);
  alloc(0x20000, 64);
  stack(2, {0x40});
  alloc(0x30000, 64);
  stack(2, {0x30});
  alloc(0x40000, 64);
  const std::string part = finish();
  EXPECT_EQ(contexts_in(part), 2u) << part;
  EXPECT_NE(part.find("\"allocations\":3,\"frees\":0,\"bytes\":192"), std::string::npos) << part;
}

TEST_F(StreamRecorderTest, AStackThatWasSentBeforeIsFoundByItsPlace) {
  stack(0, {0x10, 0x20});
  alloc(0x10000, 64, kOne, 7);
  stack(1, {0x30});
  alloc(0x20000, 64, kOne, channel::kStackPlaces - 1);
  alloc(0x30000, 64, kOne, 7);
  stack(1, {0x40});
  alloc(0x40000, 64, kOne, 7);
  const std::string part = finish();
  EXPECT_EQ(contexts_in(part), 3u) << part;
  EXPECT_NE(part.find("\"allocations\":2,\"frees\":0,\"bytes\":128"), std::string::npos) << part;
}

TEST_F(StreamRecorderTest, EachThreadHasAStackOfItsOwn) {
  stack(0, {0x10});
  stack(0, {0x20}, kOther);
  alloc(0x10000, 64);
  alloc(0x20000, 64, kOther);
  alloc(0x30000, 64);
  EXPECT_EQ(contexts_in(finish()), 2u);
}

TEST_F(StreamRecorderTest, AThreadThatReusesAStreamBeginsWithoutFrames) {
  stack(0, {0x10, 0x20});
  alloc(0x10000, 64);
  recorder_->end_thread(kOne);
  stack(0, {0x10});
  alloc(0x20000, 64);
  EXPECT_EQ(contexts_in(finish()), 2u);
}

TEST_F(StreamRecorderTest, AccessesCountByTheWeightOfTheirBurst) {
  stack(0, {0x10});
  alloc(0x10000, 64);
  take({Record::make(Kind::kBurst, 0, 5), Record::access(0x10008, 3, false, 0, 0x99)});
  const std::string part = finish();
  EXPECT_NE(part.find("\"machine_accesses\":5"), std::string::npos) << part;
}

TEST_F(StreamRecorderTest, BurstsOfThreadsHaveTheirOwnWeights) {
  const auto burst = [](events::BurstScope scope, uint64_t weight) {
    return Record::make(Kind::kBurst, uint64_t(scope), weight);
  };
  const Record access = Record::access(0x10008, 3, false, 0, 0x99);
  stack(0, {0x10});
  alloc(0x10000, 64);
  take({burst(events::BurstScope::kThread, 5), access});
  take({burst(events::BurstScope::kThread, 100), access}, kOther);
  take({access, burst(events::BurstScope::kGoesOn, 7), access});
  const std::string part = finish();
  EXPECT_NE(part.find("\"machine_accesses\":117"), std::string::npos) << part;
  EXPECT_NE(part.find("\"sampling\":{\"bursts\":2"), std::string::npos) << part;
}

TEST_F(StreamRecorderTest, AForkIsTold) {
  EXPECT_FALSE(take({Record::make(Kind::kFree, 0x10000, 0)}));
  EXPECT_TRUE(take({of_stream(StreamKind::kFork, 0)}));
}

TEST_F(StreamRecorderTest, AChildKeepsTheObjectsButCountsFromZero) {
  stack(0, {0x10});
  alloc(0x10000, 64);
  recorder_->continue_as_child();
  take({Record::make(Kind::kFree, 0x10000, 0)});
  const std::string part = finish();
  EXPECT_NE(part.find("\"allocations\":0,\"frees\":1,"), std::string::npos) << part;
}

TEST(StreamReader, MemoryOfOtherKindsIsRefused) {
  const int file = memfd_create("test", 0);
  ASSERT_EQ(ftruncate(file, 4096), 0);
  EXPECT_FALSE(is_streams(file));
  EXPECT_FALSE(is_streams(-1));
  close(file);
}

}  // namespace
}  // namespace halo::consumer
