// Packed addresses: objects never overlap while both live, and keep the order.
#include "studies/layouts/packing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
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
      live.erase(live.begin() + ptrdiff_t(at));
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
          ASSERT_EQ(begin, addresses[by_address[next]]) << order.name;
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

TEST(Packing, ReuseIsOfBlocksAsInGlibc) {
  FactsReader reader(1);
  const uint32_t sizes[] = {8, 24, 25, 40, 41};
  for (uint64_t number = 1; number <= std::size(sizes); ++number) {
    reader.allocate({number, number * 4096, sizes[number - 1], base::ContextId{0}});
    reader.access(base::ThreadId{0}, number, 0, 1, true);
    reader.free(number);
  }
  const Communities none = find_communities(reader.take_graph());
  const std::vector<uint32_t> hubs;
  const Subject subject{reader.facts(), reader.numbers(), none, hubs};
  const auto addresses = pack(subject, first_touch(subject), any_object, kPackings[1]);
  EXPECT_EQ(addresses[2], addresses[1]);
  EXPECT_EQ(addresses[3], addresses[1] + 24);
  EXPECT_EQ(addresses[4], addresses[3]);
  EXPECT_EQ(addresses[5], addresses[3] + 40);
}

TEST(Packing, RequestedAlignmentIsKept) {
  FactsReader reader(1);
  for (uint64_t number = 1; number <= 6; ++number) {
    reader.allocate({number, number * 64, 24, base::ContextId{0}});
    if (number % 2 == 0) reader.align(number);
    reader.access(base::ThreadId{0}, number, 0, 1, true);
    reader.free(number);
  }
  const Communities none = find_communities(reader.take_graph());
  const std::vector<uint32_t> hubs;
  const Subject subject{reader.facts(), reader.numbers(), none, hubs};
  for (const Packing& packing : kPackings) {
    const auto addresses = pack(subject, first_touch(subject), any_object, packing);
    EXPECT_EQ(addresses[2] % 128, 0u);
    EXPECT_EQ(addresses[4] % 256, 0u);
    EXPECT_EQ(addresses[6] % 128, 0u);
    for (uint64_t number = 2; number < 6; ++number)
      EXPECT_NE(addresses[number], addresses[number + 1]);
  }
}

TEST(Packing, ObjectsInHugePagesStayInThem) {
  FactsReader reader(1);
  constexpr uint64_t kPage = 2 << 20;
  const auto allocate = [&](uint64_t number, uint64_t address) {
    reader.allocate({number, address, 24, base::ContextId{0}});
    reader.access(base::ThreadId{0}, number, 0, 1, true);
  };
  allocate(1, kPage);
  allocate(2, 3 * kPage);
  reader.huge_pages(kPage, kPage);
  allocate(3, kPage + 24);
  allocate(4, 3 * kPage + 24);
  const Communities none = find_communities(reader.take_graph());
  const std::vector<uint32_t> hubs;
  const Subject subject{reader.facts(), reader.numbers(), none, hubs};
  const auto addresses = pack(subject, first_touch(subject), any_object, kPackings[0]);
  EXPECT_EQ(addresses, (std::vector<uint64_t>{0, kFirstHugeAddress, kFirstAddress,
                                              kFirstHugeAddress + 24, kFirstAddress + 24}));
  const AddressRange huge = huge_pages_of(subject, addresses);
  EXPECT_EQ(huge.begin, kFirstHugeAddress);
  EXPECT_EQ(huge.end, kFirstHugeAddress + kPage);
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
  ObjectFacts damaged{.size = 4096};
  damaged.touch(UINT32_MAX, 2);
  EXPECT_EQ(damaged.touched_bytes(), 64u) << "the last part";
}

}  // namespace
}  // namespace halo::layout
