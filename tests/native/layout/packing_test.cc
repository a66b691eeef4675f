// Packed addresses: objects never overlap while both live, and keep the order.
#include "layout/packing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace halo::layout {
namespace {

// Objects that are allocated, accessed and freed at random.
class PackingTest : public testing::Test {
 protected:
  PackingTest() : reader_(1) {
    std::mt19937_64 random(1);
    std::vector<uint64_t> live;
    for (uint64_t number = 1; number <= 2000; ++number) {
      reader_.allocate({number, number * 4096, uint32_t(random() % 5) * 12,
                        base::ContextId{uint32_t(random() % 3)}});
      live.push_back(number);
      if (number % 7 != 0) reader_.access(base::ThreadId{0}, number, 0, 1, true);
      if (random() % 3 == 0) continue;
      const size_t at = random() % live.size();
      reader_.free(live[at]);
      live.erase(live.begin() + std::ptrdiff_t(at));
    }
    communities_ = find_communities(reader_.take_graph());
  }

  Subject subject() const { return {reader_.facts(), reader_.numbers(), communities_, hubs_}; }

  FactsReader reader_;
  Communities communities_;
  std::vector<uint32_t> hubs_ = {3, 5};
};

bool live_at_once(const ObjectFacts& a, const ObjectFacts& b) {
  return a.born < b.died && b.born < a.died;
}

TEST_F(PackingTest, ObjectsThatLiveAtOnceDoNotOverlap) {
  for (const Packing& packing : kPackings)
    for (const NamedOrder& order : kOrders) {
      const std::vector<uint64_t> addresses =
          pack(subject(), order.make(subject()), order.key, packing);
      std::vector<uint64_t> by_address;
      for (uint64_t number = 1; number < addresses.size(); ++number)
        if (reader_.facts()[number].size != 0) by_address.push_back(number);
      std::sort(by_address.begin(), by_address.end(),
                [&](uint64_t a, uint64_t b) { return addresses[a] < addresses[b]; });
      for (size_t at = 0; at < by_address.size(); ++at) {
        const ObjectFacts& one = reader_.facts()[by_address[at]];
        const uint64_t begin = addresses[by_address[at]];
        ASSERT_EQ(begin % packing.step, 0u);
        for (size_t next = at + 1; next < by_address.size(); ++next) {
          if (addresses[by_address[next]] >= begin + one.size + packing.overhead) break;
          const ObjectFacts& other = reader_.facts()[by_address[next]];
          ASSERT_TRUE(packing.reuse) << order.name;
          ASSERT_FALSE(live_at_once(one, other)) << order.name;
          ASSERT_EQ(one.size, other.size) << order.name;
        }
      }
    }
}

TEST_F(PackingTest, ReuseNeedsLessMemory) {
  const auto end = [&](const Packing& packing) {
    const auto addresses = pack(subject(), allocation_order(subject()), any_object, packing);
    return *std::max_element(addresses.begin(), addresses.end()) - kFirstAddress;
  };
  EXPECT_LT(end(kPackings[1]) * 3 / 2, end(kPackings[0]));
}

TEST_F(PackingTest, WithoutReuseAddressesAreInOrder) {
  for (const NamedOrder& order : kOrders) {
    const Order made = order.make(subject());
    const std::vector<uint64_t> addresses = pack(subject(), made, order.key, kPackings[0]);
    uint64_t before = 0;
    for (const uint64_t number : made) {
      ASSERT_GE(addresses[number], before) << order.name;
      before = addresses[number];
    }
  }
}

TEST(ObjectFacts, TouchedBytesAreThoseOfAccesses) {
  ObjectFacts small{.size = 40}, large{.size = 4096};
  small.touch(8, 8);
  small.touch(12, 8);
  EXPECT_EQ(small.touched_bytes(), 12u);
  large.touch(0, 1);
  large.touch(4090, 8);
  EXPECT_EQ(large.touched_bytes(), 128u);
  small.touch(0, 64);
  EXPECT_EQ(small.touched_bytes(), 40u);
}

}  // namespace
}  // namespace halo::layout
