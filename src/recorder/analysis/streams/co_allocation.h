// Finds call sites whose objects should share a pool so that hot data streams touch fewer cache
// lines.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "recorder/analysis/streams/hot_streams.h"

namespace halo::sinks {

// See Chilimbi and Shaham 2006, "Cache-conscious Coallocation of Hot Data Streams", and HALO,
// sections 2.2.3 and 5.1.
//
// The data about an object at its allocation.
struct Birth {
  uint64_t address;
  uint32_t size;  // bytes
  base::ContextId context;
};

// The sites of one or more streams, and the savings of a common pool.
struct CoAllocationSet {
  std::vector<uint32_t> sites;  // ascending
  uint64_t streams = 0;
  uint64_t heat = 0;   // references in the streams' occurrences
  uint64_t saved = 0;  // cache lines that the occurrences save
};

constexpr uint32_t kNoSite = UINT32_MAX;

// The sets with savings, largest first; at most kMaxSets.
//
// The terminals of `streams` are indices into `births`, which is in order of allocation. A
// context's site is its immediate caller of malloc, or kNoSite. The pool of a set holds the objects
// of all its sites in order of allocation, in steps of 8 bytes and without reuse. So objects are
// neighbours only if they are allocated one after the other. The lines touched before are those of
// the recorded addresses.
constexpr size_t kMaxSets = 4096;
std::vector<CoAllocationSet> co_allocation_sets(const HotStreams& streams,
                                                std::span<const Birth> births,
                                                std::span<const uint32_t> site_of_context);

}  // namespace halo::sinks
