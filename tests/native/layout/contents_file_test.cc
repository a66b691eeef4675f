// The contents file has a row for each object with contents.
#include "layout/contents_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/crc32.h"
#include "layout/contents_format.h"
#include "objects/trace_writer.h"

namespace halo::layout {
namespace {

class ContentsFileTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  std::vector<std::byte> written() {
    FILE* const file = tmpfile();
    write_contents(path_, file);
    fseek(file, 0, SEEK_END);
    std::vector<std::byte> bytes(size_t(ftell(file)));
    rewind(file);
    EXPECT_EQ(fread(bytes.data(), 1, bytes.size(), file), bytes.size());
    fclose(file);
    return bytes;
  }

  const std::string path_ = testing::TempDir() + "contents-" + std::to_string(getpid());
};

TEST_F(ContentsFileTest, HasWhatTheTraceHas) {
  {
    objects::TraceWriter writer(path_);
    writer.allocate({1, 0x1000, 12, base::ContextId{7}});
    writer.allocate({2, 0x2000, 8, base::ContextId{8}});
    writer.allocate({3, 0x3000, 4096, base::ContextId{9}});
    writer.contents(3, std::vector<uint64_t>(kContentsWords, 3));
    writer.contents(1, std::vector<uint64_t>{10, 20});
    writer.finish();
  }
  const std::vector<std::byte> bytes = written();
  ContentsHead head;
  ContentsRow rows[2];
  ASSERT_EQ(bytes.size(), sizeof head + sizeof rows);
  std::memcpy(&head, bytes.data(), sizeof head);
  std::memcpy(rows, bytes.data() + sizeof head, sizeof rows);
  EXPECT_EQ(head.version, kContentsVersion);
  ASSERT_EQ(head.rows, 2u);
  EXPECT_EQ(head.check, base::crc32(std::as_bytes(std::span(&head.rows, 1)),
                                    base::crc32(std::as_bytes(std::span(rows)))));
  EXPECT_EQ(rows[0].number, 3u);
  EXPECT_EQ(rows[0].count, kContentsWords);
  EXPECT_EQ(rows[0].words[kContentsWords - 1], 3u);
  EXPECT_EQ(rows[1].number, 1u);
  EXPECT_EQ(rows[1].address, 0x1000u);
  EXPECT_EQ(rows[1].size, 12u);
  EXPECT_EQ(rows[1].context, 7u);
  EXPECT_EQ(rows[1].count, 2u);
  EXPECT_EQ(rows[1].words[0], 10u);
  EXPECT_EQ(rows[1].words[1], 20u);
  EXPECT_EQ(rows[1].words[2], 0u);
}

TEST_F(ContentsFileTest, ATraceWithoutContentsHasNoRows) {
  {
    objects::TraceWriter writer(path_);
    writer.allocate({1, 0x1000, 12, base::ContextId{7}});
    writer.finish();
  }
  EXPECT_EQ(written().size(), sizeof(ContentsHead));
}

TEST_F(ContentsFileTest, ContentsOfAnotherSizeAreRefused) {
  {
    objects::TraceWriter writer(path_);
    writer.allocate({1, 0x1000, 12, base::ContextId{7}});
    writer.contents(1, std::vector<uint64_t>{10});
    writer.finish();
  }
  EXPECT_THROW(written(), std::runtime_error);
}

}  // namespace
}  // namespace halo::layout
