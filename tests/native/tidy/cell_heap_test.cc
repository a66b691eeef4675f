// The heap: random operations against a list of blocks, and where objects with similar keys go.
#include "tidy/cell_heap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "tidy/simulated_memory.h"

namespace halo::tidy {
namespace {

using Heap = CellHeap<SimulatedMemory>;

uint32_t block_of(uint32_t bytes) { return (bytes + kGranule - 1) / kGranule * kGranule; }

// How a test chooses keys.
class Keys {
 public:
  enum Kind { kRandom, kEqual, kFew, kDrifting, kPowers, kKinds };
  Keys(std::mt19937_64& random, uint64_t kind) : random_(&random), kind_(Kind(kind)) {}

  uint64_t next() {
    switch (kind_) {
      case kRandom:
        return (*random_)();
      case kEqual:
        return 5;
      case kFew:
        return (*random_)() % 64;
      case kDrifting:
        return (drift_ += 3) + (*random_)() % 100;
      default:
        return uint64_t{1} << ((*random_)() % 20);
    }
  }

 private:
  std::mt19937_64* random_;
  Kind kind_;
  uint64_t drift_ = 0;
};

// Used blocks, and what must hold for them.
class Blocks {
 public:
  explicit Blocks(Heap& heap) : heap_(&heap) {}

  void add(Place place, uint32_t bytes) {
    const uint32_t block = block_of(bytes);
    ASSERT_NE(place, Heap::kRefused);
    ASSERT_EQ(place % (block % 16 == 0 ? 16 : 8), 0u);
    ASSERT_EQ(place / kPageBytes, (place + block - 1) / kPageBytes);
    ASSERT_EQ(heap_->size_of(place), block);
    const auto behind = blocks_.lower_bound(place);
    if (behind != blocks_.end()) {
      ASSERT_LE(place + block, behind->first);
    }
    if (behind != blocks_.begin()) {
      const auto before = std::prev(behind);
      ASSERT_LE(before->first + before->second, place);
    }
    blocks_[place] = block;
    order_.push_back(place);
    live_ += block;
  }

  // Frees the newest block or a random one.
  void free_one(std::mt19937_64& random) {
    const size_t at = random() % 2 != 0 ? order_.size() - 1 : random() % order_.size();
    const Place place = order_[at];
    order_[at] = order_.back();
    order_.pop_back();
    ASSERT_EQ(heap_->size_of(place), blocks_.at(place));
    live_ -= blocks_.at(place);
    blocks_.erase(place);
    ASSERT_TRUE(heap_->free(place));
    ASSERT_EQ(heap_->size_of(place), 0u);
    ASSERT_FALSE(heap_->free(place));
  }

  void check_all() const {
    for (const auto& [place, bytes] : blocks_) ASSERT_EQ(heap_->size_of(place), bytes);
  }
  void free_all() {
    for (const Place place : order_) ASSERT_TRUE(heap_->free(place));
  }

  bool empty() const { return order_.empty(); }
  Place any(std::mt19937_64& random) const { return order_[random() % order_.size()]; }
  uint64_t live() const { return live_; }

 private:
  Heap* heap_;
  std::map<Place, uint32_t> blocks_;
  std::vector<Place> order_;
  uint64_t live_ = 0;
};

TEST(CellHeap, ServesDisjointBlocksAndReturnsAllMemory) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    SimulatedMemory memory;
    Heap heap(memory, {.bucket_bytes = 64u << random() % 8,
                       .split_after = uint32_t(1 + random() % 8),
                       .adaptive = random() % 4 != 0});
    ASSERT_TRUE(heap.open());
    Keys keys(random, random() % Keys::kKinds);
    Blocks blocks(heap);
    const auto usual = uint32_t(1 + random() % heap.max_bytes());
    uint64_t frees = 50;  // per cent
    for (int step = 0; step < 20'000; ++step) {
      if (step % 5000 == 0) frees = 25 + random() % 50;
      if (!blocks.empty() && random() % 100 < frees) {
        blocks.free_one(random);
      } else {
        const uint32_t max_bytes = std::min(heap.max_bytes(), 200u);
        const uint32_t bytes = random() % 3 != 0 ? usual : uint32_t(1 + random() % max_bytes);
        const uint64_t how = random() % 20;
        blocks.add(how == 0                     ? heap.allocate_common(bytes)
                   : how < 4 && !blocks.empty() ? heap.allocate_near(blocks.any(random), bytes)
                                                : heap.allocate(keys.next(), bytes),
                   bytes);
      }
      if (HasFatalFailure()) return;
      ASSERT_EQ(heap.counts().live_bytes, blocks.live());
      ASSERT_GE(heap.resident(), blocks.live());
      if (step % 4000 == 0) blocks.check_all();
    }
    blocks.free_all();
    EXPECT_EQ(heap.counts().live_bytes, 0u);
    EXPECT_LE(heap.counts().buckets, kPageBytes / heap.max_bytes());
    EXPECT_LE(memory.used(), 1u);  // the page that became empty last
  }
}

// System pages of the objects whose keys are below `limit`.
size_t pages_of(const std::vector<std::pair<uint64_t, Place>>& objects, uint64_t limit) {
  std::set<Place> pages;
  for (const auto& [key, place] : objects)
    if (key < limit) pages.insert(place / kSystemPage);
  return pages.size();
}

TEST(CellHeap, PutsObjectsWithNearKeysOnFewPages) {
  constexpr uint64_t kObjects = 200'000, kBytes = 32;
  std::mt19937_64 random(3);
  for (const bool has_keys : {true, false}) {
    SimulatedMemory memory;
    Heap heap(memory, {});
    ASSERT_TRUE(heap.open());
    std::vector<std::pair<uint64_t, Place>> objects;
    for (uint64_t i = 0; i < kObjects; ++i) {
      const uint64_t key = random() % kObjects;
      objects.emplace_back(key, heap.allocate(has_keys ? key : 0, kBytes));
    }
    // A hundredth of the keys: 2000 objects, 16 pages if they were dense.
    const size_t pages = pages_of(objects, kObjects / 100);
    if (has_keys) {
      EXPECT_LT(pages, 80u);
    } else {
      EXPECT_GT(pages, 1000u);
    }
  }
}

struct AgedHeap {
  uint64_t objects, freed_of_each;  // one of that number was freed
  size_t max_pages;                 // of the objects of a hundredth of the keys
};
class CellHeapAged : public testing::TestWithParam<AgedHeap> {};

// Free blocks that fit no request, and those of other cells, use up the bound on free memory. If a
// cell got no bucket then, large heaps would put small objects into the cell for all keys.
TEST_P(CellHeapAged, PutsObjectsWithNearKeysOnFewPages) {
  const uint64_t count = GetParam().objects;
  std::mt19937_64 random(4);
  SimulatedMemory memory;
  Heap heap(memory, {});
  ASSERT_TRUE(heap.open());
  const auto bytes_of = [&](uint64_t number) { return number < count / 2 ? 40u : 56u; };
  std::vector<Place> litter;
  for (uint64_t i = 0; i < count; ++i)
    litter.push_back(heap.allocate(random() % count, bytes_of(random() % count)));
  std::shuffle(litter.begin(), litter.end(), random);
  for (uint64_t i = 0; i < count / GetParam().freed_of_each; ++i) ASSERT_TRUE(heap.free(litter[i]));
  std::vector<std::pair<uint64_t, Place>> objects;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t key = random() % count;
    objects.emplace_back(key, heap.allocate(key, bytes_of(i)));
  }
  EXPECT_LT(pages_of(objects, count / 100), GetParam().max_pages);
  EXPECT_LE(heap.resident(), heap.counts().live_bytes * 9 / 8 + (2 << 20));
}

INSTANTIATE_TEST_SUITE_P(Sizes, CellHeapAged,
                         testing::Values(AgedHeap{200'000, 4, 150}, AgedHeap{1'000'000, 2, 1000}));

// Free memory beside live memory, whatever the keys.
TEST(CellHeap, BoundsFreeMemory) {
  for (uint64_t kind = 0; kind < Keys::kKinds; ++kind) {
    SCOPED_TRACE(kind);
    std::mt19937_64 random(kind);
    SimulatedMemory memory;
    Heap heap(memory, {});
    ASSERT_TRUE(heap.open());
    Keys keys(random, kind);
    uint64_t live = 0;
    for (int i = 0; i < 1'000'000; ++i) {
      const auto bytes = uint32_t(16 + random() % 496);
      live += block_of(bytes);
      ASSERT_NE(heap.allocate(keys.next(), bytes), Heap::kRefused);
    }
    EXPECT_LE(heap.resident(), live + live / 12 + (2 << 20));
  }
}

// The same after each object was replaced, half of them at a time: by one of another size, or of
// the same one, which does not divide a bucket. The live bytes are added up here, and those of
// pages counted from what the memory holds.
class ReplacedObjects : public testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(CellHeap, ReplacedObjects, testing::Values(0, 264));

TEST_P(ReplacedObjects, LeaveFreeMemoryBounded) {
  constexpr size_t kObjects = 200'000;
  for (const uint64_t kind : {Keys::kRandom, Keys::kEqual, Keys::kDrifting}) {
    SCOPED_TRACE(kind);
    std::mt19937_64 random(kind);
    SimulatedMemory memory;
    Heap heap(memory, {});
    ASSERT_TRUE(heap.open());
    Keys keys(random, kind);
    std::vector<std::pair<Place, uint32_t>> objects(kObjects);
    uint64_t live = 0;
    for (int round = 0; round < 4; ++round) {
      for (auto& [place, block] : objects) {
        if (round == 0 || random() % 2 != 0) continue;
        ASSERT_TRUE(heap.free(place));
        live -= std::exchange(block, 0);
      }
      for (auto& [place, block] : objects) {
        if (block != 0) continue;
        const auto bytes = GetParam() != 0 ? GetParam() : uint32_t(16 + random() % 496);
        place = heap.allocate(keys.next(), bytes);
        ASSERT_NE(place, Heap::kRefused);
        live += block = block_of(bytes);
      }
      EXPECT_EQ(heap.counts().live_bytes, live);
      EXPECT_LE(heap.resident(), live + live / 12 + (3 << 19));
      EXPECT_LE(heap.resident(), memory.used() * uint64_t{kPageBytes + kSystemPage});
    }
  }
}

// Were cells split without a reserve of free memory, most objects would find no room in theirs.
TEST(CellHeap, ServesNearlyAllObjectsByTheirKeys) {
  SimulatedMemory memory;
  Heap heap(memory, {});
  ASSERT_TRUE(heap.open());
  std::mt19937_64 random(1);
  for (int i = 0; i < 1'000'000; ++i)
    ASSERT_NE(heap.allocate(random(), uint32_t(16 + random() % 496)), Heap::kRefused);
  EXPECT_LE(heap.counts().spilled, 50'000u);
}

TEST(CellHeap, KeepsItsSizeWhileKeysDrift) {
  constexpr int kLive = 20'000, kOperations = 4'000'000;
  SimulatedMemory memory;
  Heap heap(memory, {});
  ASSERT_TRUE(heap.open());
  std::vector<Place> blocks;
  std::mt19937_64 random(1);
  uint64_t second_quarter = 0, peak = 0;
  for (int i = 0; i < kOperations; ++i) {
    const Place place = heap.allocate(uint64_t(i) * 16 + random() % 100'000, 40);
    if (i < kLive) {
      blocks.push_back(place);
    } else {
      ASSERT_TRUE(heap.free(blocks[size_t(i % kLive)]));
      blocks[size_t(i % kLive)] = place;
    }
    peak = std::max(peak, heap.resident());
    if (i == kOperations / 2) second_quarter = std::exchange(peak, 0);
  }
  EXPECT_LE(peak, second_quarter + second_quarter / 50);
  EXPECT_LE(heap.counts().cells, 2000u);
}

TEST(CellHeap, GivesEachKeyACellIfCellsDoNotAdapt) {
  SimulatedMemory memory;
  Heap heap(memory, {.adaptive = false});
  ASSERT_TRUE(heap.open());
  std::map<uint64_t, std::set<Place>> buckets;
  for (uint64_t i = 0; i < 10'000; ++i)
    buckets[i % 100].insert(heap.allocate(i % 100, 32) / HeapSettings{}.bucket_bytes);
  EXPECT_EQ(heap.counts().cells, 100u);
  std::set<Place> all;
  for (const auto& [key, its] : buckets) all.insert(its.begin(), its.end());
  EXPECT_EQ(all.size(), 100 * buckets[0].size());
}

TEST(CellHeap, PutsAnObjectIntoTheBucketOfItsNeighbour) {
  SimulatedMemory memory;
  Heap heap(memory, {});
  ASSERT_TRUE(heap.open());
  const Place first = heap.allocate(1, 32);
  std::vector<Place> others;
  for (uint64_t i = 0; i < 5; ++i) others.push_back(heap.allocate(1, 32));
  for (int i = 0; i < 10'000; ++i) heap.allocate(1'000'000, 32);
  ASSERT_TRUE(heap.free(others[2]));
  ASSERT_TRUE(heap.free(others[3]));
  ASSERT_TRUE(heap.free(others[4]));
  EXPECT_EQ(heap.allocate_near(first, 32) / HeapSettings{}.bucket_bytes,
            first / HeapSettings{}.bucket_bytes);
}

TEST(CellHeap, SaysIfMemoryIsRefused) {
  SimulatedMemory memory;
  memory.limit = 1;
  Heap heap(memory, {});
  ASSERT_TRUE(heap.open());
  std::vector<Place> blocks;
  for (Place place; (place = heap.allocate(blocks.size(), 64)) != Heap::kRefused;)
    blocks.push_back(place);
  EXPECT_EQ(blocks.size(), kPageBytes / 64);
  for (const Place place : blocks) EXPECT_TRUE(heap.free(place));
  EXPECT_NE(heap.allocate(0, 64), Heap::kRefused);
}

}  // namespace
}  // namespace halo::tidy
