// Which call sites' objects would have to lie together so that hot data streams touch fewer cache
// lines (Chilimbi and Shaham 2006, "Cache-conscious Coallocation of Hot Data Streams"; HALO,
// sections 2.2.3 and 5.1).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "sinks/streams/hot_streams.h"

namespace halo::sinks {

// What is known of an object when it is allocated.
struct Birth {
  uint64_t address;
  uint32_t size;  // bytes
  base::ContextId context;
};

// The sites of one or more streams, and what a pool of their own would save.
struct CoAllocationSet {
  std::vector<uint32_t> sites;  // ascending
  uint64_t streams = 0;
  uint64_t heat = 0;   // references in the streams' occurrences
  uint64_t saved = 0;  // cache lines that the occurrences would touch less
};

constexpr uint32_t kNoSite = UINT32_MAX;

// The sets that would save something, the most first; at most kMaxSets.
//
// The terminals of `streams` are indices into `births`, which is in order of allocation; a
// context's site is its immediate caller of malloc, or kNoSite. The pool of a set holds the objects
// of all its sites one behind the other, 8-byte steps, no reuse: so objects that are not allocated
// close to each other do not come to lie so. The lines touched before are those of the recorded
// addresses.
constexpr size_t kMaxSets = 4096;
std::vector<CoAllocationSet> co_allocation_sets(const HotStreams& streams,
                                                std::span<const Birth> births,
                                                std::span<const uint32_t> site_of_context);

}  // namespace halo::sinks
