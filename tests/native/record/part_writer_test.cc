// What becomes of a part that cannot be written.
#include "record/part_writer.h"

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

  bool write(const fs::path& path) {
    const PartInput input{
        .result = analysis.finish(), .contexts = contexts, .seconds = 1, .instructions = 1};
    return write_part_file(path, input);
  }

  const fs::path folder = testing::TempDir() + "part_writer." + std::to_string(getpid());
  sinks::Analysis analysis{sinks::Parameters{}};
  ContextTable contexts;
};

TEST_F(PartWriterTest, LeavesOnlyTheCompleteFile) {
  ASSERT_TRUE(write(folder / "part"));
  EXPECT_TRUE(fs::exists(folder / "part"));
  EXPECT_FALSE(fs::exists(folder / "part.tmp"));
}

TEST_F(PartWriterTest, LeavesNothingWhereItFailsAndSaysWhy) {
  fs::create_directories(folder / "part");  // cannot be renamed over
  testing::internal::CaptureStderr();
  EXPECT_FALSE(write(folder / "part"));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("/part: Is a directory"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(folder / "part.tmp"));
}

}  // namespace
}  // namespace halo::record
