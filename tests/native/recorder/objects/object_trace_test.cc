// Object traces: what is written is read, and damaged files are refused.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "recorder/objects/trace_reader.h"
#include "recorder/objects/trace_writer.h"

namespace halo::objects {
namespace {

using base::ContextId;
using base::ThreadId;

// Both the calls of a writer and the visits of a reader, as lines of text.
struct Script {
  std::vector<std::string> lines;

  template <class... Words>
  void add(const Words&... words) {
    std::ostringstream line;
    ((line << words << ' '), ...);
    lines.push_back(line.str());
  }
  void allocate(const Allocation& one) { describe("allocate", one); }
  void define(const Allocation& one) { describe("define", one); }
  void free(uint64_t number) { add("free", number); }
  void revive(uint64_t number) { add("revive", number); }
  void huge_pages(uint64_t address, uint64_t bytes) { add("huge", address, bytes); }
  void access(ThreadId thread, uint64_t number, uint32_t offset, uint32_t size, bool store) {
    add("access", base::index(thread), number, offset, size, store);
  }
  void access_outside(ThreadId thread, uint64_t address, uint32_t size, bool store) {
    add("outside", base::index(thread), address, size, store);
  }
  void repeat(ThreadId thread, uint64_t count) { add("repeat", base::index(thread), count); }
  void align(uint64_t number) { add("align", number); }
  void reallocate(uint64_t number, uint64_t replaced) { add("reallocate", number, replaced); }
  void phase(uint64_t first, uint64_t last) { add("phase", first, last); }

 private:
  void describe(const char* verb, const Allocation& one) {
    add(verb, one.number, one.address, one.size, base::index(one.context));
  }
};

class ObjectTrace : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  Script read() const {
    Script found;
    TraceReader reader(path_);
    reader.read(found);
    complete_ = reader.complete();
    return found;
  }
  std::string content() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void replace(const std::string& content) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << content;
  }

  const std::string path_ = testing::TempDir() + "objects-" + std::to_string(getpid());
  mutable bool complete_ = false;
};

// Random events to the writer and the same ones to the script.
class Author {
 public:
  Author(TraceWriter& writer, Script& script) : writer_(writer), script_(script) {}

  void write(int events) {
    for (int event = 0; event < events; ++event) one();
  }

 private:
  void one() {
    const auto thread = ThreadId{uint32_t(random_() % 3)};
    const auto size = uint32_t(random_() % 10 == 0 ? random_() % 200 + 1 : 1u << random_() % 7);
    const bool store = random_() % 2 != 0;
    switch (random_() % 12) {
      case 0:
        // Some allocations are not in the trace.
        newest_ += random_() % 8 == 0 ? random_() % 300 + 1 : 1;
        objects_.push_back({newest_, random_() >> 20, uint32_t(random_() % 4096),
                            ContextId{uint32_t(random_() % 100)}});
        writer_.allocate(objects_.back());
        script_.allocate(objects_.back());
        if (random_() % 4 != 0) return;
        writer_.align(objects_.back().number);
        script_.align(objects_.back().number);
        if (any().number == newest_) return;
        writer_.reallocate(newest_, any_number_);
        script_.reallocate(newest_, any_number_);
        return;
      case 1:
        if (objects_.empty()) return;
        writer_.free(any().number);
        script_.free(any_number_);
        if (random_() % 2 != 0) return;
        writer_.revive(any_number_);
        script_.revive(any_number_);
        return;
      case 2: {
        const uint64_t count = random_() % 2 != 0 ? random_() % 200 + 1 : 1;
        writer_.repeat(thread, uint32_t(count));
        script_.repeat(thread, count);
        return;
      }
      case 3:
        writer_.huge_pages(random_() % 1000, 4096);
        script_.huge_pages(last_ % 1000, 4096);
        return;
      case 4:
      case 5:
      case 6: {
        const uint64_t address = random_();
        writer_.access_outside(thread, address, size, store);
        script_.access_outside(thread, address, size, store);
        return;
      }
      default: {
        if (objects_.empty()) return;
        const Allocation object = any();
        const auto offset = uint32_t(random_() % 4096);
        writer_.access(thread, object, offset, size, store);
        script_.access(thread, object.number, offset, size, store);
      }
    }
  }
  const Allocation& any() {
    const Allocation& one = objects_[random_() % objects_.size()];
    any_number_ = one.number;
    return one;
  }
  uint64_t random_() { return last_ = engine_(); }

  TraceWriter& writer_;
  Script& script_;
  std::vector<Allocation> objects_;
  std::mt19937_64 engine_{1};
  uint64_t last_ = 0, any_number_ = 0, newest_ = 0;
};

TEST_F(ObjectTrace, IsReadAsWrittenOverSeveralBlocks) {
  Script written;
  {
    TraceWriter writer(path_);
    Author(writer, written).write(1'300'000);
    writer.finish();
    ASSERT_TRUE(writer.complete());
    EXPECT_EQ(writer.bytes(), std::filesystem::file_size(path_));
  }
  const Script found = read();
  EXPECT_TRUE(complete_);
  ASSERT_EQ(found.lines.size(), written.lines.size());
  for (size_t at = 0; at < found.lines.size(); ++at)
    ASSERT_EQ(found.lines[at], written.lines[at]) << at;
}

TEST_F(ObjectTrace, APhaseIsInAccesses) {
  TraceWriter writer(path_);
  const Allocation one{1, 64, 8, ContextId{0}};
  writer.allocate(one);
  writer.access_outside(ThreadId{0}, 1000, 8, false);
  const uint64_t first = writer.accesses();
  writer.access(ThreadId{1}, one, 0, 8, true);
  writer.repeat(ThreadId{1}, 100);
  writer.access_outside(ThreadId{0}, 1000, 8, false);
  writer.phase(first, writer.accesses() - 1);
  writer.finish();
  EXPECT_EQ(read().lines.back(), "phase 1 2 ");
}

TEST_F(ObjectTrace, DefinesObjectsThatAreOlder) {
  const Allocation old{7, 4096, 24, ContextId{3}}, young{8, 8192, 16, ContextId{1}};
  TraceWriter writer(path_);
  writer.allocate({1, 64, 8, ContextId{0}});
  writer.restart();
  writer.access(ThreadId{0}, old, 8, 4, false);
  writer.free(6);  // was never accessed
  writer.access(ThreadId{0}, old, 0, 4, true);
  writer.allocate(young);
  writer.free(7);
  writer.finish();
  Script expected;
  expected.define(old);
  expected.access(ThreadId{0}, 7, 8, 4, false);
  expected.access(ThreadId{0}, 7, 0, 4, true);
  expected.allocate(young);
  expected.free(7);
  EXPECT_EQ(read().lines, expected.lines);
}

TEST_F(ObjectTrace, NumbersThatNoFileOfThatSizeCanHaveAreRefused) {
  for (const bool defined : {false, true}) {
    TraceWriter writer(path_);
    const Allocation far{100'000'000, 4096, 24, ContextId{0}};
    if (defined)
      writer.access(ThreadId{0}, far, 0, 8, false);
    else
      writer.allocate(far);
    writer.finish();
    EXPECT_THROW(read(), std::runtime_error);
    std::filesystem::remove(path_);
  }
}

TEST_F(ObjectTrace, ObjectsThatWereLeftOutAreRefused) {
  const Allocation first{1, 4096, 24, ContextId{0}}, left_out{2, 8192, 24, ContextId{0}};
  for (int event = 0; event < 4; ++event) {
    TraceWriter writer(path_);
    writer.allocate(first);
    writer.allocate({3, 12288, 24, ContextId{0}});
    if (event == 0) writer.access(ThreadId{0}, left_out, 0, 8, false);
    if (event == 1) writer.free(2);
    if (event == 2) writer.revive(2);
    if (event == 3) writer.align(2);
    writer.finish();
    EXPECT_THROW(read(), std::runtime_error) << event;
    std::filesystem::remove(path_);
  }
}

TEST_F(ObjectTrace, AnObjectIsNotMadeOfItself) {
  TraceWriter writer(path_);
  writer.allocate({1, 4096, 24, ContextId{0}});
  writer.reallocate(1, 1);
  writer.finish();
  EXPECT_EQ(read().lines.size(), 1u);
}

TEST_F(ObjectTrace, ContentsAreSkipped) {
  const auto bytes = [](const auto& part) {
    return std::string(reinterpret_cast<const char*>(&part), sizeof part);
  };
  const std::string ops{char(Control::kAllocate), char(Control::kContents), char(Control::kFree)};
  // The object: its address, size and context. Its contents: the object, 2 words. Its free.
  const std::string operands("\x40\x10\x03\x00\x02\x05\x06\x00", 8);
  std::string packed(ZSTD_compressBound(ops.size() + operands.size()), 0);
  packed.resize(ZSTD_compress(packed.data(), packed.size(), (ops + operands).data(),
                              ops.size() + operands.size(), 1));
  BlockHead block{.ops = uint32_t(ops.size()),
                  .operands = uint32_t(operands.size()),
                  .packed = uint32_t(packed.size())};
  block.check = XXH64(packed.data(), packed.size(), ops.size() + operands.size());
  replace(bytes(FileHead{}) + bytes(block) + packed);
  Script expected;
  expected.allocate({1, 32, 16, ContextId{3}});
  expected.free(1);
  EXPECT_EQ(read().lines, expected.lines);
}

TEST_F(ObjectTrace, GoesOnAfterAnEnd) {
  TraceWriter writer(path_);
  writer.access_outside(ThreadId{1}, 100, 8, false);
  writer.finish();
  EXPECT_EQ(read().lines.size(), 1u);
  EXPECT_TRUE(complete_);
  writer.access_outside(ThreadId{1}, 200, 8, false);
  writer.finish();
  EXPECT_EQ(read().lines.size(), 2u);
  EXPECT_TRUE(complete_);
}

TEST_F(ObjectTrace, AForkedChildWritesNothing) {
  TraceWriter writer(path_);
  const auto write = [&](uint32_t count) {
    for (uint32_t at = 0; at < count; ++at) writer.access_outside(ThreadId{0}, at, 8, false);
  };
  write(kMaxOps - 5);
  if (fork() == 0) {
    write(100);
    writer.finish();
    _exit(writer.complete() ? 1 : 0);
  }
  int status = 0;
  wait(&status);
  EXPECT_EQ(status, 0);
  write(10);
  writer.finish();
  EXPECT_TRUE(writer.complete());
  EXPECT_EQ(read().lines.size(), kMaxOps + 5);
}

TEST_F(ObjectTrace, GoesOnIfTheProgramClosesAllDescriptors) {
  TraceWriter writer(path_);
  writer.access_outside(ThreadId{0}, 1, 8, false);
  for (int file = 3; file < 50; ++file) close(file);
  writer.finish();
  EXPECT_EQ(read().lines.size(), 1u);
  EXPECT_TRUE(complete_);
}

TEST_F(ObjectTrace, AFileThatExistsIsNotOverwritten) {
  replace("mine");
  TraceWriter writer(path_);
  EXPECT_FALSE(writer.complete());
  writer.access_outside(ThreadId{0}, 1, 1, false);
  writer.finish();
  EXPECT_EQ(content(), "mine");
}

TEST_F(ObjectTrace, CutShortAnywhereGivesItsBeginning) {
  Script written;
  {
    TraceWriter writer(path_);
    Author(writer, written).write(1'200'000);
    writer.finish();
  }
  const std::string whole = content();
  for (const double share : {0.3, 0.6, 0.9, 0.999999}) {
    replace(whole.substr(0, size_t(double(whole.size()) * share)));
    const Script found = read();
    EXPECT_FALSE(complete_);
    ASSERT_LE(found.lines.size(), written.lines.size());
    for (size_t at = 0; at < found.lines.size(); ++at)
      ASSERT_EQ(found.lines[at], written.lines[at]) << at;
  }
}

TEST_F(ObjectTrace, AnyFlippedByteIsRefusedOrCutShort) {
  {
    TraceWriter writer(path_);
    Script script;
    Author(writer, script).write(300);
    writer.finish();
  }
  const std::string whole = content();
  const size_t events = read().lines.size();
  for (size_t at = 0; at < whole.size(); ++at) {
    if (at >= 12 && at < 16) continue;  // unused
    std::string changed = whole;
    changed[at] = char(changed[at] ^ 0x10);
    replace(changed);
    try {
      const size_t found = read().lines.size();
      EXPECT_TRUE(!complete_ || found == events) << at;
    } catch (const std::runtime_error&) {
    }
  }
}

TEST_F(ObjectTrace, ANewerVersionAndAnotherFileAreNamed) {
  const auto refusal = [&] {
    try {
      read();
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_EQ(refusal(), "it cannot be read: No such file or directory");
  replace("something else that is long enough");
  EXPECT_EQ(
      refusal(),
      "it is not an object trace of halo; halo study layout -o and halo record --objects make one");
  FileHead head;
  head.version = kVersion + 1;
  replace(std::string(reinterpret_cast<const char*>(&head), sizeof head));
  EXPECT_EQ(refusal(),
            "it has version " + std::to_string(kVersion + 1) + ", which this halo cannot read");
}

}  // namespace
}  // namespace halo::objects
