// Placement by keys in the model: Tidy's own heap, and what it leaves where it was.
#include "layout/tidy_placement.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "layout/object_keys.h"
#include "layout/packing.h"
#include "tidy/simulated_memory.h"

namespace halo::layout {
namespace {

TEST(TidyPlacement, IsThatOfTheHeap) {
  FactsReader reader(1);
  ObjectKeys keys(1);
  tidy::SimulatedMemory memory;
  tidy::CellHeap<tidy::SimulatedMemory> heap(memory, {});
  ASSERT_TRUE(heap.open());
  std::vector<uint64_t> expected = {0};
  for (uint64_t number = 1; number <= 5000; ++number) {
    const uint64_t key = number * 7919 % 1000;
    reader.allocate({number, number * 4096, 40, base::ContextId{0}});
    keys.push_back(key);
    expected.push_back(kFirstAddress + heap.allocate(key, 40));
    if (number % 3 != 0) continue;
    reader.free(number / 3);
    ASSERT_TRUE(heap.free(expected[number / 3] - kFirstAddress));
  }
  EXPECT_EQ(place_by_keys(reader.facts(), keys, {}, false), expected);
}

TEST(TidyPlacement, LeavesOthersWhereTheyWere) {
  FactsReader reader(1);
  reader.allocate({1, 4096, 40, base::ContextId{0}});
  reader.allocate({2, 8192, 4000, base::ContextId{0}});
  reader.allocate({3, 12288, 40, base::ContextId{0}});
  const ObjectKeys keys = {{}, {}, 5};  // none, too large, none
  for (const bool ignores : {false, true}) {
    const auto addresses = place_by_keys(reader.facts(), keys, {}, ignores);
    EXPECT_EQ(addresses, (std::vector<uint64_t>{0, 4096, 8192, 12288}));
  }
}

TEST(TidyPlacement, IsInOrderOfAllocationIfHintsAreIgnored) {
  FactsReader reader(1);
  ObjectKeys keys(1);
  for (uint64_t number = 1; number <= 100; ++number) {
    reader.allocate({number, number * 4096, 32, base::ContextId{0}});
    keys.push_back(number * 7919 % 1000);
  }
  const auto addresses = place_by_keys(reader.facts(), keys, {}, true);
  for (uint64_t number = 2; number <= 100; ++number)
    EXPECT_EQ(addresses[number], addresses[number - 1] + 32);
}

class KeysFile {
 public:
  explicit KeysFile(const char* text) : path_(testing::TempDir() + "halo-keys") {
    std::ofstream(path_) << text;
  }
  ~KeysFile() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(ObjectKeys, AreReadByNumber) {
  const KeysFile file("2 18446744073709551615\n4 0\n");
  const ObjectKeys keys = read_keys(file.path());
  EXPECT_EQ(keys, (ObjectKeys{{}, {}, UINT64_MAX, {}, 0}));
}

TEST(ObjectKeys, RefuseAnythingElse) {
  for (const char* text : {"1 x\n", "2 1\n1 1\n", "5000000000 1\n", "1 18446744073709551616\n"})
    EXPECT_THROW(read_keys(KeysFile(text).path()), std::runtime_error) << text;
  EXPECT_THROW(read_keys("/nonexistent"), std::runtime_error);
}

TEST(ObjectKeys, AreReadByAddress) {
  FactsReader reader(1);
  reader.allocate({1, 4096, 40, base::ContextId{0}});
  reader.allocate({2, 8192, 40, base::ContextId{0}});
  reader.free(2);
  reader.allocate({3, 8192, 24, base::ContextId{0}});
  reader.free(3);
  reader.allocate({4, 8192, 40, base::ContextId{0}});
  const KeysFile file("8192 24 7\n8192 40 5\n");
  EXPECT_EQ(read_keys_by_address(file.path(), reader.facts()), (ObjectKeys{{}, {}, {}, 7, 5}));
  for (const char* text : {"4096 40 x\n", "4096 41 1\n", "8192 40 1\n4096 40 2\n"})
    EXPECT_THROW(read_keys_by_address(KeysFile(text).path(), reader.facts()), std::runtime_error)
        << text;
  EXPECT_THROW(read_keys_by_address("/nonexistent", reader.facts()), std::runtime_error);
}

}  // namespace
}  // namespace halo::layout
