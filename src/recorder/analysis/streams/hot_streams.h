// Minimal hot data streams: sequences of references that a program repeats.
#pragma once

#include <cstdint>
#include <vector>

#include "recorder/analysis/streams/sequitur.h"

namespace halo::sinks {

// Chilimbi 2001, "Efficient Representations and Abstractions for Quantifying and Exploiting Data
// Reference Locality"; found in the grammar as Larus 1999, "Whole Program Paths", finds subpaths.
//
// The heat of a string of references is its length times its number of occurrences, which may
// overlap. A hot stream occurs at least twice, and its heat reaches the threshold. It is minimal if
// no prefix of at least the minimum length is hot.
struct StreamOptions {
  static constexpr uint32_t kLongest = 20;

  uint32_t shortest = 2;        // references, at least 2
  uint32_t longest = kLongest;  // references, at most kLongest
  double coverage = 0.9;        // share of all references that are in occurrences of hot streams
};

struct HotStream {
  std::vector<uint32_t> terminals;
  uint64_t occurrences;

  uint64_t heat() const { return terminals.size() * occurrences; }
};

struct HotStreams {
  uint64_t references = 0;
  uint64_t covered = 0;  // references in occurrences of streams
  // Heat: the maximum that reaches the coverage, within a sixteenth. (A higher one may reach it
  // again, since streams are then longer; the search ignores that.)
  uint64_t threshold = 0;
  std::vector<HotStream> streams;
};

// If the coverage cannot be reached, the threshold is the minimum, and `covered` is lower.
HotStreams find_hot_streams(const Sequitur& grammar, const StreamOptions& options);

// Likewise, for a given threshold.
HotStreams find_hot_streams_above(const Sequitur& grammar, const StreamOptions& options,
                                  uint64_t threshold);

}  // namespace halo::sinks
