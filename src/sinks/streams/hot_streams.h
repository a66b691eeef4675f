// Minimal hot data streams: what a program touches again and again in the same order (Chilimbi
// 2001, "Efficient Representations and Abstractions for Quantifying and Exploiting Data Reference
// Locality"; found in the grammar as Larus 1999, "Whole Program Paths", finds subpaths).
#pragma once

#include <cstdint>
#include <vector>

#include "sinks/streams/sequitur.h"

namespace halo::sinks {

// The heat of a string of references is its length times how often it occurs (occurrences may
// overlap). It is a hot stream if it occurs at least twice and its heat reaches the threshold, and
// a minimal one if no prefix of at least the shortest length does.
struct StreamOptions {
  static constexpr uint32_t kLongest = 20;

  uint32_t shortest = 2;        // references, at least 2
  uint32_t longest = kLongest;  // references, at most kLongest
  double coverage = 0.9;        // share of all references that lie in occurrences of hot streams
};

struct HotStream {
  std::vector<uint32_t> terminals;
  uint64_t occurrences;

  uint64_t heat() const { return terminals.size() * occurrences; }
};

struct HotStreams {
  uint64_t references = 0;
  uint64_t covered = 0;  // references that lie in an occurrence of a stream
  // Of heat: within a sixteenth, the greatest that reaches the coverage. (A higher one can cover
  // more again, as streams are longer then; that is not searched for.)
  uint64_t threshold = 0;
  std::vector<HotStream> streams;
};

// Where the coverage cannot be reached, the threshold is the lowest there is, and `covered` tells.
HotStreams find_hot_streams(const Sequitur& grammar, const StreamOptions& options);

// The same for a given threshold.
HotStreams find_hot_streams_above(const Sequitur& grammar, const StreamOptions& options,
                                  uint64_t threshold);

}  // namespace halo::sinks
