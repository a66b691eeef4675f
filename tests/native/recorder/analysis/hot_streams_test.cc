// Hot data streams, compared with a slow reference on the sequence itself.
#include "recorder/analysis/streams/hot_streams.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>

#include "random.h"
#include "recorder/analysis/streams/co_allocation.h"

namespace halo::sinks {
namespace {

using Sequence = std::vector<uint32_t>;
using Streams = std::map<Sequence, uint64_t>;  // to numbers of occurrences

struct Reference {
  Streams streams;
  uint64_t covered = 0;
};

Reference reference(const std::vector<Sequence>& sequences, const StreamOptions& options,
                    uint64_t threshold) {
  Streams counts;
  for (const Sequence& sequence : sequences) {
    for (size_t begin = 0; begin < sequence.size(); ++begin) {
      for (size_t length = 1; length <= options.longest; ++length) {
        if (begin + length > sequence.size()) break;
        ++counts[Sequence(&sequence[begin], &sequence[begin] + length)];
      }
    }
  }
  Reference found;
  for (const Sequence& sequence : sequences) {
    std::vector<bool> covered(sequence.size());
    for (size_t begin = 0; begin < sequence.size(); ++begin) {
      for (size_t length = options.shortest; length <= options.longest; ++length) {
        if (begin + length > sequence.size()) break;
        const Sequence string(&sequence[begin], &sequence[begin] + length);
        const uint64_t count = counts[string];
        if (count < 2 || count * length < threshold) continue;
        found.streams[string] = count;
        for (size_t at = begin; at < begin + length; ++at) covered[at] = true;
        break;
      }
    }
    for (const bool is_covered : covered) found.covered += is_covered;
  }
  return found;
}

Streams as_map(const HotStreams& found) {
  Streams map;
  for (const HotStream& stream : found.streams) map[stream.terminals] = stream.occurrences;
  EXPECT_EQ(map.size(), found.streams.size()) << "each once";
  return map;
}

void build(Sequitur& grammar, const std::vector<Sequence>& sequences) {
  for (uint32_t at = 0; at < sequences.size(); ++at) {
    for (const uint32_t terminal : sequences[at]) grammar.append(at, terminal);
  }
}

// Motifs of random length, with noise between them.
Sequence random_sequence(std::mt19937& random) {
  const uint32_t letters = 2 + below(8, random);
  std::vector<Sequence> motifs(1 + random() % 4);
  for (Sequence& motif : motifs) {
    motif.resize(1 + random() % 50);
    for (uint32_t& letter : motif) letter = below(letters, random);
  }
  Sequence sequence;
  const size_t length = random() % 600;
  while (sequence.size() < length) {
    const Sequence& motif = motifs[random() % motifs.size()];
    sequence.insert(sequence.end(), motif.begin(), motif.end());
    for (size_t noise = random() % 4; noise > 0; --noise)
      sequence.push_back(below(letters, random));
  }
  return sequence;
}

TEST(HotStreams, AreWhatTheReferenceFinds) {
  std::mt19937 random(1);
  for (int round = 0; round < 400; ++round) {
    std::vector<Sequence> sequences;
    for (size_t at = 1 + random() % 3; at > 0; --at) sequences.push_back(random_sequence(random));
    Sequitur grammar;
    build(grammar, sequences);
    StreamOptions options;
    options.shortest = 2 + below(3, random);
    options.longest = options.shortest + below(StreamOptions::kLongest - 3, random);
    const uint64_t threshold = 1 + random() % 100;
    const HotStreams found = find_hot_streams_above(grammar, options, threshold);
    const Reference expected = reference(sequences, options, threshold);
    ASSERT_EQ(as_map(found), expected.streams) << "round " << round;
    ASSERT_EQ(found.covered, expected.covered) << "round " << round;
  }
}

// A higher threshold can cover more, since streams are then longer, but hardly ever does.
TEST(HotStreams, TheThresholdIsTheGreatestThatCoversEnough) {
  std::mt19937 random(2);
  int higher = 0;
  constexpr int kRounds = 100;
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<Sequence> sequences{random_sequence(random)};
    Sequitur grammar;
    build(grammar, sequences);
    const StreamOptions options;
    const HotStreams found = find_hot_streams(grammar, options);
    EXPECT_EQ(found.references, sequences[0].size());
    const double enough = options.coverage * double(found.references);
    const Reference at = reference(sequences, options, found.threshold);
    EXPECT_EQ(as_map(found), at.streams);
    if (double(found.covered) < enough) {
      EXPECT_LE(found.threshold, 4u) << "only where nothing lower is left";
      continue;
    }
    const uint64_t more = found.threshold + found.threshold / 8 + 1;
    higher += double(reference(sequences, options, more).covered) >= enough;
  }
  EXPECT_LE(higher, kRounds / 20);
}

// abc three times, each followed by another terminal: ab is hot at 6, and no longer string is
// needed.
TEST(HotStreams, AStreamEndsWhenItIsHot) {
  Sequitur grammar;
  build(grammar, {{1, 2, 3, 4, 1, 2, 3, 5, 1, 2, 3, 6}});
  const HotStreams at_six = find_hot_streams_above(grammar, {}, 6);
  EXPECT_EQ(as_map(at_six), (Streams{{{1, 2}, 3}, {{2, 3}, 3}}));
  EXPECT_EQ(at_six.covered, 9u);
  const HotStreams at_nine = find_hot_streams_above(grammar, {}, 9);
  EXPECT_EQ(as_map(at_nine), (Streams{{{1, 2, 3}, 3}}));
  EXPECT_EQ(find_hot_streams_above(grammar, {}, 10).streams.size(), 0u);
}

TEST(HotStreams, OfNothing) {
  const Sequitur grammar;
  const HotStreams found = find_hot_streams(grammar, {});
  EXPECT_EQ(found.references, 0u);
  EXPECT_TRUE(found.streams.empty());
}

class CoAllocationTest : public testing::Test {
 protected:
  // Objects of 32 bytes, one line apart: contexts 0 and 1 alternate.
  void SetUp() override {
    for (uint32_t at = 0; at < 64; ++at)
      births.push_back({0x1000 + at * 128, 32, base::ContextId{at % 2}});
  }
  std::vector<CoAllocationSet> sets(std::vector<HotStream> streams) const {
    return co_allocation_sets(
        {.references = 1000, .covered = 900, .threshold = 10, .streams = std::move(streams)},
        births, site_of_context);
  }
  std::vector<Birth> births;
  std::vector<uint32_t> site_of_context{7, 9};
};

TEST_F(CoAllocationTest, CountsTheLinesThatAPoolSaves) {
  const auto found = sets({{{0, 1, 2, 3}, 10}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].sites, (std::vector<uint32_t>{7, 9}));
  EXPECT_EQ(found[0].saved, 20u) << "four lines before, two in the pool";
  EXPECT_EQ(found[0].heat, 40u);
}

TEST_F(CoAllocationTest, CountsOtherObjectsOfASiteInBetween) {
  // Alone, site 7 has 0 and 2 as neighbours.
  EXPECT_EQ(sets({{{0, 2}, 10}})[0].saved, 10u);
  EXPECT_TRUE(sets({{{0, 33}, 10}}).empty()) << "33 objects apart in the common pool";
}

TEST_F(CoAllocationTest, AddsUpTheStreamsOfTheSameSites) {
  const auto found = sets({{{0, 2}, 10}, {{4, 6}, 5}, {{0, 1}, 100}});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].sites.size(), 2u) << "what saves most comes first";
  EXPECT_EQ(found[1].streams, 2u);
  EXPECT_EQ(found[1].saved, 15u);
}

TEST_F(CoAllocationTest, LeavesOutObjectsWithoutASite) {
  site_of_context[1] = kNoSite;
  EXPECT_EQ(sets({{{0, 1, 2}, 10}})[0].sites, (std::vector<uint32_t>{7}));
  EXPECT_TRUE(sets({{{1, 3}, 10}}).empty());
}

}  // namespace
}  // namespace halo::sinks
