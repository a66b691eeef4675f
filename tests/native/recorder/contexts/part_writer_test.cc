// Parts that cannot be written.
#include "recorder/contexts/output/part_writer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace halo::record {
namespace {

namespace fs = std::filesystem;

class PartWriterTest : public testing::Test {
 protected:
  PartWriterTest() { fs::create_directories(folder); }
  ~PartWriterTest() override { fs::remove_all(folder); }

  bool write(bool forked = false) {
    return write_part(folder + "/part", analysis.finish(), contexts,
                      {.producer = "test", .pid = 7, .seconds = 1, .forked = forked});
  }

  const std::string folder = testing::TempDir() + "part_writer." + std::to_string(getpid());
  sinks::Analysis analysis{sinks::Parameters{}};
  ContextTable contexts{[](const CodeVisitor&) {}};
};

TEST_F(PartWriterTest, LeavesOnlyTheCompleteFile) {
  ASSERT_TRUE(write());
  EXPECT_TRUE(fs::exists(folder + "/part.7.json"));
  EXPECT_FALSE(fs::exists(folder + "/part.7.json.tmp"));
}

TEST_F(PartWriterTest, LeavesNothingOfAForkedChildThatDidNothing) {
  ASSERT_TRUE(write(true));
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST_F(PartWriterTest, LeavesNothingIfItFailsAndReportsTheReason) {
  fs::create_directories(folder + "/part.7.json");  // rename cannot replace it
  testing::internal::CaptureStderr();
  EXPECT_FALSE(write());
  EXPECT_NE(testing::internal::GetCapturedStderr().find("/part.7.json: Is a directory"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(folder + "/part.7.json.tmp"));
}

}  // namespace
}  // namespace halo::record
