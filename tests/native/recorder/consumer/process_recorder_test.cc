// Words become objects, accesses, and a part.
#include "recorder/consumer/process_recorder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>

#include "written_part.h"

namespace halo::consumer {
namespace {

using channel::Word;
using channel::WordKind;

constexpr uint64_t kStack = 0x7FFF00000000;

class ProcessRecorderTest : public testing::Test {
 protected:
  ProcessRecorderTest() {
    options_.out = part_prefix();
    recorder_ = std::make_unique<ProcessRecorder>(options_);
    recorder_->part().set_process(getpid());
    put(WordKind::kThread, 1);
  }

  void put(WordKind kind, uint64_t payload) { words_.push_back(Word::make(kind, payload).bits()); }
  void alloc(uint64_t address, uint64_t size) {
    put(WordKind::kCall, kStack);
    words_.push_back(0x1234);
    put(WordKind::kAlloc, address);
    words_.insert(words_.end(), {size, kStack});
  }
  void access(uint64_t address, uint32_t size_log2 = 3) {
    words_.push_back(Word::access(address, Word::access_tag(size_log2, false, 0)).bits());
  }
  bool consume() {
    const bool forks = recorder_->consume(words_);
    words_.clear();
    return forks;
  }
  std::string finish() {
    consume();
    return written_part(*recorder_, options_.out);
  }

  record::Options options_;
  std::unique_ptr<ProcessRecorder> recorder_;
  std::vector<uint64_t> words_;
};

TEST_F(ProcessRecorderTest, AllocationsAndAccessesAreCounted) {
  alloc(0x10000, 64);
  alloc(0x20000, 64);
  access(0x10000);
  access(0x20008);
  access(0x10010);
  access(0x30000);  // outside all objects
  put(WordKind::kFree, 0x10000);
  access(0x10010);  // outside all objects again
  const std::string part = finish();
  EXPECT_NE(
      part.find(
          "\"totals\":{\"untracked\":0,\"allocations\":2,\"frees\":1,"
          "\"machine_accesses\":3,\"peak_live_bytes\":128,\"final_live_bytes\":64,\"accesses\":3}"),
      std::string::npos)
      << part;
  EXPECT_EQ(part.find("sampling"), std::string::npos);
}

TEST_F(ProcessRecorderTest, WideAccessesAreSeveralOfEightBytes) {
  alloc(0x10000, 64);
  access(0x10000, 5);
  EXPECT_NE(finish().find("\"machine_accesses\":4"), std::string::npos);
}

TEST_F(ProcessRecorderTest, ABurstsAccessesCountByItsWeight) {
  alloc(0x10000, 64);
  access(0x10000);
  put(WordKind::kGap, 0);
  put(WordKind::kBurst, 5);
  access(0x10000);
  const std::string part = finish();
  EXPECT_NE(part.find("\"machine_accesses\":6"), std::string::npos) << part;
  EXPECT_NE(part.find("\"sampling\":{\"bursts\":1"), std::string::npos);
}

TEST_F(ProcessRecorderTest, AForkEndsItsChunk) {
  alloc(0x10000, 64);
  EXPECT_FALSE(consume());
  put(WordKind::kFork, 0);
  EXPECT_TRUE(consume());
}

TEST_F(ProcessRecorderTest, AChildKeepsTheObjectsButCountsFromZero) {
  alloc(0x10000, 64);
  access(0x10000);
  put(WordKind::kFork, 0);
  consume();
  recorder_->continue_as_child();
  put(WordKind::kThread, 1);
  access(0x10008);
  const std::string part = finish();
  EXPECT_NE(
      part.find(
          "\"totals\":{\"untracked\":0,\"allocations\":0,\"frees\":0,"
          "\"machine_accesses\":1,\"peak_live_bytes\":64,\"final_live_bytes\":64,\"accesses\":1}"),
      std::string::npos)
      << part;
}

}  // namespace
}  // namespace halo::consumer
