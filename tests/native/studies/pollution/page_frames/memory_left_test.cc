#include "studies/pollution/page_frames/memory_left.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace halo::frames {
namespace {

class MemoryLeft : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "memory-left-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
    write("meminfo", "MemTotal:  9000 kB\nMemAvailable:    1000 kB\n");
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((folder / path).parent_path());
    std::ofstream(folder / path) << text;
  }
  uint64_t left() const {
    const std::string groups = folder / "groups", control = folder / "control",
                      machine = folder / "meminfo";
    return memory_left({groups.c_str(), control.c_str(), machine.c_str()});
  }
  std::filesystem::path folder;
};

TEST_F(MemoryLeft, IsThatOfTheMachineWithoutGroups) {
  EXPECT_EQ(left(), 1000u << 10);
  std::filesystem::remove(folder / "meminfo");
  EXPECT_EQ(left(), UINT64_MAX);
}

TEST_F(MemoryLeft, IsThatOfTheStrictestGroup) {
  write("groups", "0::/a/b\n");
  write("control/a/b/memory.max", "max\n");
  write("control/a/b/memory.current", "5\n");
  EXPECT_EQ(left(), 1000u << 10);
  write("control/a/memory.max", "700\n");
  write("control/a/memory.current", "100\n");
  EXPECT_EQ(left(), 600u);
  write("control/a/b/memory.max", "5\n");
  EXPECT_EQ(left(), 0u);
}

TEST_F(MemoryLeft, KnowsTheFirstVersionOfGroups) {
  write("groups", "3:cpu:/x\n2:memory:/x\n0::/\n");
  write("control/memory/x/memory.limit_in_bytes", "4096\n");
  write("control/memory/x/memory.usage_in_bytes", "96\n");
  EXPECT_EQ(left(), 4000u);
}

TEST(MemoryLeftHere, IsKnown) {
  EXPECT_GT(memory_left(), 0u);
  EXPECT_LT(memory_left(), UINT64_MAX);
}

}  // namespace
}  // namespace halo::frames
