// Placement by keys in the model: Tidy's own heap with its accesses, and what it leaves where it
// was.
#include "studies/layouts/tidy_placement.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "studies/layouts/object_keys.h"
#include "studies/layouts/packing.h"
#include "studies/layouts/tidy_replay.h"
#include "tidy/simulated_memory.h"

namespace halo::layout {
namespace {

using base::ThreadId;

// What happens to objects, for the facts and then for a replay.
class Program {
 public:
  void allocate(uint64_t number, uint32_t size) {
    events_.push_back({Event::kAllocate, number, size});
  }
  void free(uint64_t number) { events_.push_back({Event::kFree, number, 0}); }
  void revive(uint64_t number) { events_.push_back({Event::kRevive, number, 0}); }
  // An access of the recorded allocator to the block of an object.
  void access_block(uint64_t number) { events_.push_back({Event::kBlock, number, 0}); }
  void access(uint64_t number) { events_.push_back({Event::kAccess, number, 0}); }

  template <class Visitor>
  void visit(Visitor& visitor) const {
    for (const auto& [kind, number, size] : events_) switch (kind) {
        case Event::kAllocate:
          visitor.allocate({number, number * 4096, size, base::ContextId{0}});
          break;
        case Event::kFree:
          visitor.free(number);
          break;
        case Event::kRevive:
          visitor.revive(number);
          break;
        case Event::kBlock:
          visitor.access_block(ThreadId{0}, number, -8, 8, true);
          break;
        case Event::kAccess:
          visitor.access(ThreadId{0}, number, 0, 8, true);
          break;
      }
  }

 private:
  struct Event {
    enum Kind : uint8_t { kAllocate, kFree, kRevive, kBlock, kAccess } kind;
    uint64_t number;
    uint32_t size;
  };
  std::vector<Event> events_;
};

struct Found {
  std::vector<uint64_t> addresses;
  Misses misses;
};

Found replay(const Program& program, const ObjectKeys& keys, bool ignores_hints,
             bool own_accesses = false, PhaseSpan span = {}) {
  FactsReader reader(1);
  program.visit(reader);
  TidyPlacement placement(keys, {}, ignores_hints);
  TidyReplay replay(simulator::this_machine(), reader.facts(), placement, span, own_accesses);
  program.visit(replay);
  return {replay.addresses(), replay.misses()};
}

TEST(TidyReplay, PlacesAsTheHeapDoes) {
  Program program;
  ObjectKeys keys(1);
  tidy::SimulatedMemory memory;
  tidy::CellHeap<tidy::SimulatedMemory> heap(memory, {});
  ASSERT_TRUE(heap.open());
  std::vector<uint64_t> expected = {0};
  for (uint64_t number = 1; number <= 5000; ++number) {
    const uint64_t key = number * 7919 % 1000;
    program.allocate(number, 40);
    keys.push_back(key);
    expected.push_back(kFirstAddress + heap.allocate(key, 40));
    if (number % 3 != 0) continue;
    program.free(number / 3);
    program.revive(number / 3);
    program.free(number / 3);
    ASSERT_TRUE(heap.free(expected[number / 3] - kFirstAddress));
  }
  EXPECT_EQ(replay(program, keys, false).addresses, expected);
}

TEST(TidyReplay, LeavesOthersWhereTheyWere) {
  Program program;
  program.allocate(1, 40);
  program.allocate(2, 5000);
  program.allocate(3, 40);
  const ObjectKeys keys = {{}, {}, 5};  // none, too large, none
  for (const bool ignores : {false, true})
    EXPECT_EQ(replay(program, keys, ignores).addresses,
              (std::vector<uint64_t>{0, 4096, 8192, 12288}));
}

TEST(TidyReplay, IsInOrderOfAllocationIfHintsAreIgnored) {
  Program program;
  ObjectKeys keys(1);
  for (uint64_t number = 1; number <= 100; ++number) {
    program.allocate(number, 32);
    keys.push_back(number * 7919 % 1000);
  }
  const auto addresses = replay(program, keys, true).addresses;
  for (uint64_t number = 2; number <= 100; ++number)
    EXPECT_EQ(addresses[number], addresses[number - 1] + 32);
}

TEST(TidyReplay, HasTidysAccessesInPlaceOfTheRecordedAllocators) {
  Program program;
  program.allocate(1, 40);
  program.access_block(1);
  program.allocate(2, 40);  // not Tidy's
  program.access_block(2);
  program.free(1);
  program.access_block(1);
  const ObjectKeys keys = {{}, 7};
  EXPECT_EQ(replay(program, keys, false).misses.accesses, 3u);
  const auto own_accesses = [&](PhaseSpan span) {
    return replay(program, keys, false, true, span).misses.accesses;
  };
  // By position: the two to the block of the first object are not there.
  const uint64_t all = own_accesses({}), of_second = 1;
  EXPECT_GT(own_accesses({0, 0}), 5u);  // the allocation is before the first access
  EXPECT_EQ(own_accesses({1, 1}), of_second);
  EXPECT_GT(own_accesses({2, 2}), 3u);  // the free
  EXPECT_EQ(own_accesses({0, 0}) + own_accesses({1, 1}) + own_accesses({2, 2}), all);
}

TEST(TidyReplay, HasTheSameMissesEachTime) {
  Program program;
  ObjectKeys keys(1);
  for (uint64_t number = 1; number <= 2000; ++number) {
    program.allocate(number, 40);
    program.access(number);
    keys.push_back(number * 7919 % 1000);
  }
  const Misses one = replay(program, keys, false, true).misses;
  const Misses two = replay(program, keys, false, true).misses;
  EXPECT_EQ(one.caches, two.caches);
  EXPECT_EQ(one.tlbs, two.tlbs);
  EXPECT_GT(one.cycles, replay(program, keys, false, false).misses.cycles);
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
