// Unpacking restores any packed events, and programs pack into few bytes.
#include "tracing/format/packing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "tools/synthetic_events.h"

namespace halo::trace {
namespace {

// Packs blocks, and compares each with its unpacked copy.
class RoundTrip {
 public:
  explicit RoundTrip(std::span<const SiteTraits> sites = {}) {
    EXPECT_TRUE(packer_.ok());
    add_sites(sites);
  }
  void add_sites(std::span<const SiteTraits> sites) {
    EXPECT_TRUE(packer_.add_sites(sites));
    unpacker_.add_sites(sites);
  }
  // Returns the packed size in bytes.
  size_t pass(uint32_t thread, std::span<const Logged> events) {
    const auto packed = packer_.pack(thread, events);
    unpacker_.unpack(thread, packed, back_);
    EXPECT_EQ(back_.size(), events.size());
    const size_t common = std::min(back_.size(), events.size());
    for (size_t at = 0; at < common; ++at) {
      const Logged &in = events[at], &out = back_[at];
      if (in.site == out.site && in.word1 == out.word1 && in.word2 == out.word2) continue;
      ADD_FAILURE() << "event " << at << " is not the same after unpacking";
      break;
    }
    return packed.size();
  }

 private:
  Packer packer_;
  Unpacker unpacker_;
  std::vector<Logged> back_;
};

// One site of each kind and size, and some invalid ones.
std::vector<SiteTraits> all_traits() {
  std::vector<SiteTraits> traits;
  for (unsigned kind = 0; kind < 12; ++kind) {
    for (const unsigned size : {0, 1, 2, 3, 4, 7, 8, 9, 16, 64, 65535}) {
      traits.push_back({.kind = uint8_t(kind), .size = uint16_t(size)});
    }
  }
  traits.push_back({.kind = 255, .size = 65535});
  return traits;
}

// Numbers near limits, and some that repeat.
uint64_t awkward(std::mt19937_64& random) {
  const uint64_t any = random();
  switch (random() % 6) {
    case 0:
      return any;
    case 1:
      return any >> any % 64;
    case 2:
      return (uint64_t{1} << any % 64) - random() % 3;
    case 3:
      return 0 - any % 4;
    case 4:
      return 0x7f0000001000 + any % 64;
    default:
      return any % 4;
  }
}

TEST(Packing, ProgramsBecomeFewBytes) {
  for (const std::string_view pattern : {"list", "tree", "array", "calls"}) {
    SyntheticProgram program(pattern, 7);
    RoundTrip trip(program.sites());
    size_t events = 0, bytes = 0;
    for (int block = 0; block < 40; ++block) {
      const std::vector<Logged> part = program.run(1);
      for (size_t at = 0; at < part.size(); at += 10000) {
        const size_t count = std::min<size_t>(10000, part.size() - at);
        bytes += trip.pass(3, {part.data() + at, count});
      }
      events += part.size();
    }
    EXPECT_LT(bytes, 6 * events) << pattern;
  }
}

TEST(Packing, AnyWordsOfAnySitesComeBack) {
  std::mt19937_64 random(1);
  const std::vector<SiteTraits> traits = all_traits();
  RoundTrip trip(traits);
  for (const size_t count : {0, 1, 2, 3, 1000, 5000, 65536, 1}) {
    std::vector<Logged> events(count);
    for (Logged& event : events) {
      event = {random() % (traits.size() + 40), awkward(random), awkward(random)};
      if (random() % 64 == 0) event.site = awkward(random);
    }
    trip.pass(uint32_t(random()), events);
  }
}

TEST(Packing, ManyThreadsAndTheirCollisionsComeBack) {
  SyntheticProgram program("calls", 2);
  RoundTrip trip(program.sites());
  for (uint32_t block = 0; block < 600; ++block) {
    trip.pass(block % 7 == 0 ? 0xffffffff - block : block, program.run(100));
  }
}

TEST(Packing, SitesMayBeAddedAtAnyTime) {
  std::mt19937_64 random(3);
  RoundTrip trip;
  std::vector<Logged> events(300);
  for (int modules = 0; modules < 30; ++modules) {
    // Site numbers beyond the known ones are used before they are assigned, too.
    for (Logged& event : events) event = {random() % 5000, random() % 64, random() % 300};
    trip.pass(0, events);
    trip.add_sites(all_traits());
  }
}

TEST(Packing, FramesLeftWithoutAnExitDoNoHarm) {
  const SiteTraits sites[] = {{.kind = uint8_t(SiteKind::kEnter), .size = 0},
                              {.kind = uint8_t(SiteKind::kExit), .size = 0}};
  RoundTrip trip(sites);
  std::vector<Logged> events;
  for (uint64_t i = 0; i < 3000; ++i) {
    const uint64_t slot = 0x7ffd00000000 - i * i % 7919 * 16;
    events.push_back({kMarkers + (i % 3 == 0 ? 1 : 0), slot, i});
  }
  trip.pass(0, events);
}

TEST(Packing, MoreEventsThanABlockHoldsAreRefused) {
  Packer packer;
  const std::vector<Logged> events(Packer::kMaxEvents + 1);
  EXPECT_TRUE(packer.pack(0, events).empty());
  EXPECT_FALSE(packer.pack(0, std::span(events).first(Packer::kMaxEvents)).empty());
}

TEST(Packing, ADamagedBlockIsRefusedOrDecodesToOtherEvents) {
  SyntheticProgram program("list", 5);
  std::mt19937_64 random(9);
  Packer packer;
  ASSERT_TRUE(packer.add_sites(program.sites()));
  const std::vector<Logged> events = program.run(500);
  const auto packed = packer.pack(0, events);
  for (size_t at = 0; at < packed.size(); ++at) {
    Unpacker unpacker;
    unpacker.add_sites(program.sites());
    std::vector<std::byte> changed(packed.begin(), packed.end());
    changed[at] ^= std::byte(1 << random() % 8);
    if (random() % 8 == 0) changed.resize(at);
    std::vector<Logged> back;
    try {
      unpacker.unpack(0, changed, back);
      EXPECT_LE(back.size(), Packer::kMaxEvents);
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "a block of events is damaged");
    }
  }
}

}  // namespace
}  // namespace halo::trace
