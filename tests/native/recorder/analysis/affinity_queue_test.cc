// The affinity queue alone; whole traces are compared with a reference in Python.
#include "recorder/analysis/affinity_queue.h"

#include <gtest/gtest.h>

#include "recorder/analysis/object_table.h"

namespace halo::sinks {
namespace {

using base::ContextId;

class AffinityQueueTest : public testing::Test {
 protected:
  base::ObjectId object(uint32_t context) { return objects.add(0x1000, 16, ContextId{context}); }
  std::vector<uint32_t> push(base::ObjectId id, uint32_t size) {
    std::vector<uint32_t> pairs;
    queue.push(objects[id], id, size, objects,
               [&](ContextId context) { pairs.push_back(base::index(context)); });
    return pairs;
  }
  ObjectTable objects;
  AffinityQueue queue{32};
};

TEST_F(AffinityQueueTest, Figure5) {
  std::vector<base::ObjectId> ids;
  for (uint32_t at = 0; at < 10; ++at) ids.push_back(object(at));
  for (uint32_t at = 0; at < 9; ++at) push(ids[at], 4);
  EXPECT_EQ(push(ids[9], 4), (std::vector<uint32_t>{2, 3, 4, 5, 6, 7, 8}));
}

TEST_F(AffinityQueueTest, AGhostTakesUpDistanceButDoesNotPair) {
  const auto a = object(0), b = object(1), c = object(2);
  push(a, 8);
  push(b, 8);
  push(a, 8);
  EXPECT_EQ(push(c, 4), (std::vector<uint32_t>{1, 0})) << "24 bytes: a counts once";
  push(a, 4);
  EXPECT_EQ(push(b, 4), (std::vector<uint32_t>{2, 0}));
}

TEST_F(AffinityQueueTest, ASuccessorMadeAfterThePushIsSeen) {
  const auto a = object(0), b = object(1);
  push(a, 4);
  object(0);
  EXPECT_EQ(push(b, 4), (std::vector<uint32_t>{0})) << "the successor came after b";
  const auto c = object(2);
  EXPECT_EQ(push(c, 4), (std::vector<uint32_t>{1})) << "but before c";
}

TEST_F(AffinityQueueTest, GoesOnWhenItsStorageIsFull) {
  const auto a = object(0), b = object(1);
  for (int at = 0; at < 20000; ++at) {
    const auto pairs = push(at % 2 ? a : b, 4);
    ASSERT_EQ(pairs.size(), at > 0 ? 1u : 0u) << at;
  }
}

}  // namespace
}  // namespace halo::sinks
