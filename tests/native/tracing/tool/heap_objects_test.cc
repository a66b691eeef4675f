// Objects of any size are found at each of their bytes, and at no other address.
#include "tracing/tool/heap_objects.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace halo::trace_tool {
namespace {

constexpr uint64_t kHeap = 0x550000000000;

TEST(HeapObjects, FirstAndLastByteBelongToTheObject) {
  HeapObjects objects;
  for (const uint64_t bytes :
       {1ul, 24ul, HeapObjects::kLarge - 1, HeapObjects::kLarge, 1ul << 33}) {
    const int64_t object = objects.add(kHeap, bytes);
    EXPECT_EQ(objects.find(kHeap).object, object);
    EXPECT_EQ(objects.find(kHeap + bytes - 1).object, object);
    EXPECT_EQ(objects.find(kHeap + bytes - 1).offset, bytes - 1);
    EXPECT_EQ(objects.find(kHeap + bytes).object, 0);
    EXPECT_EQ(objects.find(kHeap - 1).object, 0);
    EXPECT_EQ(objects.free(kHeap), object);
    EXPECT_EQ(objects.find(kHeap).object, 0);
  }
}

TEST(HeapObjects, AnObjectOfNoBytesHasAnAddress) {
  HeapObjects objects;
  const int64_t object = objects.add(kHeap, 0);
  EXPECT_EQ(objects.find(kHeap).object, object);
  EXPECT_EQ(objects.free(kHeap), object);
}

TEST(HeapObjects, WhatIsNotAnObjectIsNotFreed) {
  HeapObjects objects;
  objects.add(kHeap, 64);
  EXPECT_EQ(objects.free(kHeap + 16), 0);
  EXPECT_EQ(objects.free(kHeap + 4096), 0);
  EXPECT_NE(objects.find(kHeap + 16).object, 0);
}

TEST(HeapObjects, AFreedObjectLivesOnUnlessItsPlaceIsTaken) {
  HeapObjects objects;
  const int64_t object = objects.add(kHeap, 64);
  objects.free(kHeap);
  EXPECT_TRUE(objects.revive(kHeap, 64, object));
  EXPECT_EQ(objects.find(kHeap + 63).object, object);
  objects.free(kHeap);
  const int64_t other = objects.add(kHeap, 32);
  EXPECT_FALSE(objects.revive(kHeap, 64, object));
  EXPECT_EQ(objects.find(kHeap).object, other);
}

// The reference: a list with linear search.
TEST(HeapObjects, AgreeWithAnObviousReference) {
  struct Known {
    uint64_t address, bytes;
    int64_t object;
  };
  std::mt19937 random(5);
  HeapObjects objects;
  std::vector<Known> known;
  for (int step = 0; step < 20000; ++step) {
    const uint64_t slot = kHeap + (random() % 64) * (256 << 10);
    const auto here = std::find_if(known.begin(), known.end(),
                                   [&](const Known& one) { return one.address == slot; });
    if (here != known.end() && random() % 2 == 0) {
      EXPECT_EQ(objects.free(slot), here->object);
      known.erase(here);
    } else if (here == known.end()) {
      const uint64_t bytes = random() % 3 == 0 ? 65000 + random() % 100000 : 1 + random() % 500;
      known.push_back({slot, bytes, objects.add(slot, bytes)});
    }
    const uint64_t wanted = kHeap + random() % (64 * (256 << 10));
    const auto around = std::find_if(known.begin(), known.end(), [&](const Known& one) {
      return wanted - one.address < one.bytes;
    });
    EXPECT_EQ(objects.find(wanted).object, around == known.end() ? 0 : around->object);
  }
}

}  // namespace
}  // namespace halo::trace_tool
