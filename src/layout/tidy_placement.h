// Addresses of objects if Tidy placed them.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/object_facts.h"
#include "layout/object_keys.h"
#include "tidy/cell_heap.h"

namespace halo::layout {

// Addresses by allocation number. Objects with a key are where Tidy's own heap puts them, from
// kFirstAddress on (packing.h), with frees as in the trace; if hints are ignored, where it puts
// objects without a key. All others, and those that are larger than a bucket, are as recorded.
std::vector<uint64_t> place_by_keys(const std::vector<ObjectFacts>& facts, const ObjectKeys& keys,
                                    const tidy::HeapSettings& settings, bool ignores_hints);

}  // namespace halo::layout
