// Streams as files.
#include "studies/pollution/corun/stream.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "studies/pollution/corun/stream_writer.h"
#include "synthetic_program.h"

namespace halo::corun {
namespace {

StreamHead small_head(uint64_t cycles) {
  StreamHead head{};
  head.line_bytes = 64;
  head.page_bytes = 4096;
  head.cycles = cycles;
  return head;
}

TEST(Stream, IsReadAsItWasWritten) {
  const TemporaryFile file;
  constexpr uint64_t kFar = uint64_t{3} << 46;
  {
    StreamWriter writer(file.path());
    writer.add(RequestKind::kDemand, kMaxLine, 0, 7);
    writer.add(RequestKind::kWriteBack, 65, 1, kMaxCycles + 7);
    writer.add(RequestKind::kPrefetch, 66, 1, kMaxCycles + 8);
    writer.add(RequestKind::kDemand, 67, 1, kFar);
    std::vector<OwnerEntry> owners(2);
    owners[1] = {0, 9, 1, 1, 0, 1, 1, {}};
    std::vector<uint64_t> regions((kMaxLine >> 15) + 1);
    regions[1] = 12345;
    writer.finish(small_head(kFar + 5), owners, regions);
  }
  const Stream stream = read_stream(file.path());
  struct Event {
    uint64_t cycle;
    RequestKind kind;
    uint32_t line, owner;
    bool operator==(const Event&) const = default;
  };
  std::vector<Event> events;
  uint64_t cycle = 0;
  for (const uint64_t bits : stream.requests) {
    const RequestWord word(bits);
    cycle += word.cycles();
    if (word.kind() != RequestKind::kPass)
      events.push_back({cycle, word.kind(), word.line(), word.owner()});
  }
  const std::vector<Event> expected = {{7, RequestKind::kDemand, kMaxLine, 0},
                                       {kMaxCycles + 7, RequestKind::kWriteBack, 65, 1},
                                       {kMaxCycles + 8, RequestKind::kPrefetch, 66, 1},
                                       {kFar, RequestKind::kDemand, 67, 1}};
  EXPECT_TRUE(events == expected);
  EXPECT_EQ(1u, stream.owners[0].requests);
  EXPECT_EQ(2u, stream.owners[1].requests) << "without the write-back";
  EXPECT_EQ(9u, stream.owners[1].context);
  EXPECT_EQ(1, stream.owners[1].online);
  EXPECT_EQ(1, stream.owners[1].learnt);
  EXPECT_EQ(12345u, stream.regions[1]);
}

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

TEST(Stream, DamageIsRefused) {
  const TemporaryFile file;
  write_program(settings_for(small_machine(true)), 1, 300, file.path());
  const std::string whole = content_of(file.path());
  ASSERT_NO_THROW(read_stream(file.path()));
  for (size_t at = 0; at < whole.size(); at += at < 200 ? 1 : 37) {
    std::string damaged = whole;
    damaged[at] = char(damaged[at] ^ 0x10);
    write(file.path(), damaged);
    EXPECT_THROW(read_stream(file.path()), std::runtime_error) << "byte " << at;
  }
  for (const size_t size : {size_t{0}, size_t{40}, sizeof(StreamHead), whole.size() - 1}) {
    write(file.path(), whole.substr(0, size));
    EXPECT_THROW(read_stream(file.path()), std::runtime_error) << size << " bytes";
  }
}

TEST(Stream, IsNotReadBeforeItIsWhole) {
  const TemporaryFile file;
  StreamWriter writer(file.path());
  for (uint32_t at = 0; at < 200000; ++at) writer.add(RequestKind::kDemand, 40000, 0, at);
  EXPECT_THROW(read_stream(file.path()), std::runtime_error);
}

TEST(Stream, OfANewerVersionIsRefused) {
  const TemporaryFile file;
  write_program(settings_for(small_machine(true)), 1, 300, file.path());
  std::string content = content_of(file.path());
  StreamHead head{};
  content.copy(reinterpret_cast<char*>(&head), sizeof head);
  ++head.version;
  head.head_check = head_check_of(head);
  content.replace(0, sizeof head, reinterpret_cast<const char*>(&head), sizeof head);
  write(file.path(), content);
  try {
    read_stream(file.path());
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ("it is of a newer version", error.what());
  }
}

}  // namespace
}  // namespace halo::corun
