// Stored traces, and their replay through the runtime's heaps.
#include "studies/search/prediction.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "studies/layouts/packing.h"

namespace halo::predict {
namespace {

constexpr base::ThreadId kThread{};

objects::Allocation allocation(uint64_t number, uint64_t address, uint32_t size, uint32_t context) {
  return {number, address, size, base::ContextId{context}};
}

Candidate candidate(const char* line) {
  Candidate found;
  EXPECT_TRUE(parse_candidate(line, found));
  return found;
}

struct Outcome {
  uint64_t accesses = 0, first_level = 0, first_tlb = 0, grouped = 0, mixed = 0, peak_bytes = 0;
  std::vector<uint64_t> addresses;
};

// The prediction of a trace, in a process of its own, which has an arena of its own.
Outcome predict_apart(const StoredTrace& trace, const char* line) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t process = fork();
  if (process == 0) {
    std::vector<uint64_t> addresses;
    const auto found = predict(trace, simulator::this_machine(), candidate(line), &addresses);
    if (!found) _exit(1);
    const uint64_t head[] = {found->misses.accesses, found->misses.caches[0],
                             found->misses.tlbs[0],  found->grouped,
                             found->mixed,           found->peak_bytes};
    FILE* const out = fdopen(ends[1], "w");
    fwrite(head, sizeof head, 1, out);
    fwrite(addresses.data(), sizeof(uint64_t), addresses.size(), out);
    fclose(out);
    _exit(0);
  }
  close(ends[1]);
  FILE* const in = fdopen(ends[0], "r");
  std::vector<uint64_t> words;
  for (uint64_t word; fread(&word, sizeof word, 1, in) == 1;) words.push_back(word);
  fclose(in);
  int status = 1;
  waitpid(process, &status, 0);
  EXPECT_EQ(status, 0);
  if (words.size() < 6) return {};
  return {
      words[0], words[1], words[2], words[3], words[4], words[5], {words.begin() + 6, words.end()}};
}

TEST(StoredEvent, KeepsItsFields) {
  const auto object = StoredEvent::object(4000000000u, 4095, 16, true);
  EXPECT_EQ(object.kind(), StoredEvent::Kind::kObject);
  EXPECT_EQ(object.number(), 4000000000u);
  EXPECT_EQ(object.offset(), 4095u);
  EXPECT_EQ(object.size(), 16u);
  EXPECT_TRUE(object.store());
  const auto outside = StoredEvent::outside(0x7fff12345678, 1, false);
  EXPECT_EQ(outside.kind(), StoredEvent::Kind::kOutside);
  EXPECT_EQ(outside.address(), 0x7fff12345678u);
  EXPECT_EQ(outside.size(), 1u);
  EXPECT_FALSE(outside.store());
  EXPECT_EQ(StoredEvent::of(StoredEvent::Kind::kFree, 7).number(), 7u);
}

TEST(StoredTrace, KeepsOneOfSeveralStretches) {
  StoredTrace trace(4);
  trace.allocate(allocation(1, 0x1000, 64, 0));
  for (uint64_t at = 0; at < 10 * StoredTrace::kStretch; ++at)
    trace.access(kThread, 1, 0, 8, false);
  EXPECT_EQ(trace.accesses(), 10 * StoredTrace::kStretch);
  EXPECT_EQ(trace.kept(), 3 * StoredTrace::kStretch);
  EXPECT_EQ(trace.events().size(), 3 * StoredTrace::kStretch + 1);
}

// Objects that alternate between two contexts.
StoredTrace alternating(uint64_t count) {
  StoredTrace trace(1);
  for (uint64_t at = 1; at <= count; ++at)
    trace.allocate(allocation(at, at * 4096, 32, uint32_t(at % 2)));
  for (uint64_t at = 1; at <= count; at += 2) trace.access(kThread, at, 0, 8, false);
  return trace;
}

TEST(Prediction, LeavesForwardedObjectsWhereTheyWere) {
  const Outcome found = predict_apart(alternating(100), "none 4096 0 -");
  EXPECT_EQ(found.peak_bytes, 0u);
  EXPECT_EQ(found.grouped, 0u);
  EXPECT_EQ(found.accesses, 50u);
  EXPECT_EQ(found.first_level, 50u) << "each has a page of its own";
  ASSERT_EQ(found.addresses.size(), 101u);
  for (uint64_t at = 1; at <= 100; ++at) EXPECT_EQ(found.addresses[at], at * 4096);
}

TEST(Prediction, PlacesGroupsApart) {
  const Outcome found = predict_apart(alternating(100), "two 4096 2 0:0:0 0:0:0 - 0 1");
  ASSERT_EQ(found.addresses.size(), 101u);
  std::set<uint64_t> pages[2], lines;
  for (uint64_t at = 1; at <= 100; ++at) {
    const uint64_t address = found.addresses[at];
    EXPECT_GE(address, layout::kFirstAddress);
    pages[at % 2].insert(address >> 16);
    if (at % 2 == 1) lines.insert(address / 64);
  }
  EXPECT_NE(*pages[0].begin(), *pages[1].begin());
  EXPECT_EQ(found.peak_bytes, (pages[0].size() + pages[1].size()) << 16);
  EXPECT_LE(lines.size(), 26u) << "dense objects share lines";
  EXPECT_LE(found.first_level, lines.size());
}

TEST(Prediction, ReusesFreedBlocks) {
  StoredTrace trace(1);
  for (uint64_t at = 1; at <= 1000; ++at) {
    trace.allocate(allocation(at, at * 4096, 48, 0));
    trace.free(at);
  }
  const Outcome found = predict_apart(trace, "all 4096 1 2:0:0 0");
  EXPECT_EQ(found.grouped, 1000u);
  ASSERT_EQ(found.addresses.size(), 1001u);
  const std::set<uint64_t> places(found.addresses.begin() + 1, found.addresses.end());
  EXPECT_LE(places.size(), 2u);
}

TEST(Prediction, CountsObjectsOfMixedSizePages) {
  StoredTrace trace(1);
  for (uint64_t at = 1; at <= 100; ++at)
    trace.allocate(allocation(at, at * 4096, 48, uint32_t(at % 4 == 0)));
  const Outcome found = predict_apart(trace, "two 4096 2 2:0:0 0:0:0 - 0 1");
  EXPECT_EQ(found.grouped, 100u);
  EXPECT_EQ(found.mixed, 25u);
}

TEST(Prediction, AFreeThatIsRevivedReleasesNothing) {
  StoredTrace trace(1);
  trace.allocate(allocation(1, 0x1000, 48, 0));
  trace.free(1);
  trace.revive(1);
  trace.allocate(allocation(2, 0x2000, 48, 0));
  trace.free(1);
  trace.allocate(allocation(3, 0x3000, 48, 0));
  const Outcome found = predict_apart(trace, "all 4096 1 2:0:0 0");
  ASSERT_EQ(found.addresses.size(), 4u);
  EXPECT_NE(found.addresses[2], found.addresses[1]);
  EXPECT_NE(found.addresses[3], found.addresses[2]);
}

TEST(Prediction, HasTheProgramsHugePages) {
  constexpr uint64_t kHuge = 2 << 20, kPages = 4096;
  for (const bool huge : {false, true}) {
    StoredTrace trace(1);
    trace.access_outside(kThread, 8 * kHuge, 8, false);
    if (huge) trace.huge_pages(8 * kHuge, kPages * 4096);
    for (uint64_t page = 0; page < kPages; ++page)
      trace.access_outside(kThread, 8 * kHuge + page * 4096, 8, false);
    const uint64_t walks = predict_apart(trace, "none 4096 0 -").first_tlb;
    if (huge)
      EXPECT_LT(walks, 20u);
    else
      EXPECT_GE(walks, kPages);
  }
}

TEST(Prediction, ForwardsAlignedRequests) {
  StoredTrace trace(1);
  trace.allocate(allocation(1, 0x1000, 64, 0));
  trace.align(1);
  trace.allocate(allocation(2, 0x2000, 64, 0));
  const Outcome found = predict_apart(trace, "all 4096 1 0:0:0 0");
  ASSERT_EQ(found.addresses.size(), 3u);
  EXPECT_EQ(found.addresses[1], 0x1000u);
  EXPECT_GE(found.addresses[2], layout::kFirstAddress);
}

}  // namespace
}  // namespace halo::predict
