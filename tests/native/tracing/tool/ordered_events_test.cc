// Events of a stored trace come out in the order that the recorder's rings would have produced.
#include "tracing/tool/ordered_events.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace halo::trace_tool {
namespace {

using trace::Logged;
using trace::Marker;

Logged epoch(uint64_t key) { return {uint64_t(Marker::kEpoch), key, 0}; }
Logged event(uint64_t number) { return {trace::kMarkers, number, 0}; }

class Collected {
 public:
  void operator()(base::ThreadId thread, std::span<const Logged> events) {
    for (const Logged& one : events) {
      if (is_marker(one)) continue;
      text += std::to_string(base::index(thread)) + ":" + std::to_string(one.word1) + " ";
      numbers.push_back(one.word1);
    }
  }
  std::string text;
  std::vector<uint64_t> numbers;
};

TEST(OrderedEvents, FollowTheKeysWhicheverThreadIsWrittenFirst) {
  OrderedEvents events;
  Collected out;
  events.put(1, std::vector{epoch(5), event(2)});
  events.put(0, std::vector{epoch(4), event(1), epoch(6), event(3)});
  events.take_below(10, out);
  EXPECT_EQ(out.text, "0:1 1:2 0:3 ");
}

TEST(OrderedEvents, WhatReachesTheLimitWaitsForTheNextRound) {
  OrderedEvents events;
  Collected out;
  events.put(0, std::vector{epoch(4), event(1), epoch(10), event(9)});
  events.take_below(8, out);
  EXPECT_EQ(out.text, "0:1 ");
  events.put(1, std::vector{epoch(8), event(5)});
  events.take_below(20, out);
  EXPECT_EQ(out.text, "0:1 1:5 0:9 ");
}

TEST(OrderedEvents, ASegmentGoesOnInTheNextFrame) {
  OrderedEvents events;
  Collected out;
  events.put(0, std::vector{epoch(4), event(1)});
  events.take_below(6, out);
  events.put(0, std::vector{event(2)});
  events.put(1, std::vector{epoch(5), event(3)});
  events.take_below(6, out);
  EXPECT_EQ(out.text, "0:1 0:2 1:3 ");
}

TEST(OrderedEvents, TheRestOfATraceThatIsCutShortComesInOrder) {
  OrderedEvents events;
  Collected out;
  events.put(1, std::vector{epoch(9), event(2)});
  events.put(0, std::vector{epoch(8), event(1)});
  events.take_rest(out);
  EXPECT_EQ(out.text, "0:1 1:2 ");
}

// The reference: one global order, cut into frames and rounds at random as a writer would.
TEST(OrderedEvents, RestoreAnyOrderOfTheKeys) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    OrderedEvents events;
    Collected out;
    std::vector<uint64_t> expected;
    std::vector<Logged> buffers[3];
    for (uint64_t number = 1; number <= 300; ++number) {
      const auto thread = uint32_t(random() % 3);
      buffers[thread].push_back(epoch(2 * number));
      buffers[thread].push_back(event(number));
      expected.push_back(number);
      if (random() % 7 == 0) {
        const auto full = uint32_t(random() % 3);
        events.put(full, buffers[full]);
        buffers[full].clear();
      }
      if (random() % 40 != 0) continue;
      for (uint32_t each = 0; each < 3; ++each) {
        events.put(each, buffers[each]);
        buffers[each].clear();
      }
      events.take_below(2 * number - random() % 20, out);
    }
    for (uint32_t each = 0; each < 3; ++each) events.put(each, buffers[each]);
    events.take_rest(out);
    EXPECT_EQ(out.numbers, expected);
  }
}

}  // namespace
}  // namespace halo::trace_tool
