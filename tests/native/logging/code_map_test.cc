// The executable mappings of this process.
#include "logging/code_map.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <memory>
#include <string>

namespace halo::logging {
namespace {

TEST(CodeMap, ContainsCodeButNoData) {
  const auto map = std::make_unique<CodeMap>();
  EXPECT_TRUE(map->refresh());
  EXPECT_TRUE(map->contains(reinterpret_cast<uint64_t>(&mmap)));
  EXPECT_FALSE(map->contains(reinterpret_cast<uint64_t>(map.get())));
  EXPECT_FALSE(map->contains(0));
}

TEST(CodeMap, NoticesNewCodeOnly) {
  const auto map = std::make_unique<CodeMap>();
  EXPECT_TRUE(map->refresh());
  EXPECT_FALSE(map->refresh());
  void* data = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_FALSE(map->refresh());
  void* code = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_TRUE(map->refresh());
  EXPECT_TRUE(map->contains(reinterpret_cast<uint64_t>(code) + 4095));
  munmap(data, 4096);
  munmap(code, 4096);
}

TEST(CodeMap, ListsWhereAFileIsMapped) {
  const auto map = std::make_unique<CodeMap>();
  map->refresh();
  const std::string json(map->json().view());
  EXPECT_NE(json.find("libc.so.6"), std::string::npos);
  EXPECT_EQ(json.substr(0, 2), "[[");
  EXPECT_EQ(json.substr(json.size() - 2), "]]");
}

}  // namespace
}  // namespace halo::logging
