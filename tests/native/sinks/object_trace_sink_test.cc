// Contents reach the trace of their own object: once, complete, and at most a number by context.
#include "sinks/object_trace_sink.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/contents.h"
#include "objects/trace_reader.h"
#include "objects/visitor.h"
#include "sinks/analysis.h"

namespace halo::sinks {
namespace {

using base::ThreadId;
using events::Kind;
using events::Record;
using Words = std::vector<uint64_t>;

struct Found : objects::Visitor {
  std::map<uint64_t, Words> contents_of;  // by allocation number

  void contents(uint64_t number, std::span<const uint64_t> words) {
    contents_of[number] = {words.begin(), words.end()};
  }
};

class ObjectTraceSinkTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  static Parameters parameters(const std::string& path, uint32_t contents) {
    return Parameters{}.with<ObjectTraceSink>({.path = path, .phase = {}, .contents = contents});
  }
  void start(uint32_t contents = 1) {
    analysis_ = std::make_unique<Analysis>(parameters(path_, contents));
  }
  void feed(Record record, uint32_t thread = 0) {
    analysis_->consume(ThreadId{thread}, {&record, 1});
  }
  void alloc(uint64_t address, uint64_t size, uint64_t node = 1) {
    feed(Record::make(Kind::kAlloc, address, size));
    feed(Record::make(Kind::kContext, 0, node));
  }
  void contents(uint64_t address, uint64_t size, const Words& words, uint32_t thread = 0) {
    feed(Record::make(Kind::kContents, address, size), thread);
    for (const uint64_t word : words) feed(Record::make(Kind::kContentsWord, 0, word), thread);
  }
  std::map<uint64_t, Words> found() {
    analysis_->finish();
    Found found;
    objects::TraceReader(path_).read(found);
    return found.contents_of;
  }

  const std::string path_ = testing::TempDir() + "sink-" + std::to_string(getpid()) + ".objects";
  std::unique_ptr<Analysis> analysis_;
};

TEST_F(ObjectTraceSinkTest, WordsAreThoseOfTheObject) {
  start();
  alloc(0x10000, 12);
  alloc(0x20000, 4096);
  contents(0x10000, 12, {5, UINT64_MAX});
  Words large(base::kMaxContentsWords);
  for (uint64_t at = 0; at < large.size(); ++at) large[at] = at << 50;
  contents(0x20000, 4096, large);
  EXPECT_EQ(found(), (std::map<uint64_t, Words>{{1, {5, UINT64_MAX}}, {2, large}}));
}

TEST_F(ObjectTraceSinkTest, ContentsOfThreadsDoNotMix) {
  start();
  alloc(0x10000, 16);
  alloc(0x20000, 16);
  contents(0x10000, 16, {1}, 1);
  contents(0x20000, 16, {2, 2}, 2);
  feed(Record::make(Kind::kContentsWord, 0, 1), 1);
  EXPECT_EQ(found(), (std::map<uint64_t, Words>{{1, {1, 1}}, {2, {2, 2}}}));
}

TEST_F(ObjectTraceSinkTest, ContentsThatAreNotOfALiveObjectAreLeftOut) {
  start();
  alloc(0x10000, 16);
  contents(0x10008, 8, {1});         // not at its address
  contents(0x10000, 24, {1, 1, 1});  // of another size
  contents(0x90000, 8, {1});
  contents(0x10000, 16, {1});  // a word is missing
  feed(Record::make(Kind::kFree, 0x10000, 0));
  contents(0x10000, 16, {1, 1});
  feed(Record::make(Kind::kContentsWord, 0, 1));  // without an object
  alloc(0x10000, 16);
  contents(0x10000, 16, {2, 2});
  EXPECT_EQ(found(), (std::map<uint64_t, Words>{{2, {2, 2}}}));
}

TEST_F(ObjectTraceSinkTest, OnlyTheFirstContentsOfAnObjectAreKept) {
  start();
  alloc(0x10000, 8);
  contents(0x10000, 8, {1});
  contents(0x10000, 8, {2});
  EXPECT_EQ(found(), (std::map<uint64_t, Words>{{1, {1}}}));
}

TEST_F(ObjectTraceSinkTest, TheNumberOfEachContextIsBounded) {
  start();
  const uint32_t limit = ObjectTraceSink::kMaxContentsOfContext;
  for (uint64_t at = 0; at < limit + 10; ++at) {
    alloc(0x100000 + at * 16, 8, 1);
    contents(0x100000 + at * 16, 8, {at});
  }
  alloc(0x10000, 8, 2);
  contents(0x10000, 8, {7});
  const auto all = found();
  EXPECT_EQ(all.size(), limit + 1);
  EXPECT_EQ(all.at(limit), Words{limit - 1});
  EXPECT_EQ(all.at(limit + 11), Words{7});
}

TEST_F(ObjectTraceSinkTest, WithoutTheOptionThereAreNone) {
  start(0);
  alloc(0x10000, 8);
  contents(0x10000, 8, {1});
  EXPECT_TRUE(found().empty());
}

TEST_F(ObjectTraceSinkTest, ContentsAreNeededOnlyForATrace) {
  EXPECT_TRUE(parameters(path_, 1).need_contents());
  EXPECT_FALSE(parameters(path_, 0).need_contents());
  EXPECT_FALSE(parameters("", 1).need_contents());
}

}  // namespace
}  // namespace halo::sinks
