// Addresses of objects in a given order.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/memory_map.h"
#include "studies/layouts/object_facts.h"
#include "studies/layouts/orders.h"

namespace halo::layout {

// `step`: objects begin at its multiples, or at those of an alignment that was requested for them.
// `overhead`: bytes before each object. If `reuse` is set, an object gets the memory of a freed one
// with as much and the same key, the latest freed first, and memory has the usable sizes of glibc's
// blocks: 24 bytes, 40, 56, and so on. Else, and if it has a requested alignment, each object has
// memory of its own.
struct Packing {
  std::string_view name;
  uint32_t step;
  uint32_t overhead;
  bool reuse;
};

inline constexpr Packing kPackings[] = {
    {"dense", 8, 0, false},    // a bump pointer, without frees
    {"reuse", 8, 0, true},     // with them
    {"malloc", 16, 16, false}  // an allocator with headers
};

// Where no program of Linux on x86-64 has memory by default.
inline constexpr uint64_t kFirstAddress = 0x3000'0000'0000;
inline constexpr uint64_t kFirstHugeAddress = 0x3800'0000'0000;

// Addresses by allocation number. Objects with equal keys may share memory. Memory is in the order
// of the first object in it; objects that the order leaves out follow the others.
// Those that were recorded in huge pages begin at kFirstHugeAddress.
std::vector<uint64_t> pack(const Subject& subject, const Order& order, ShareKey key,
                           const Packing& packing);

// The memory of packed objects that is in huge pages; empty if none is.
AddressRange huge_pages_of(const Subject& subject, const std::vector<uint64_t>& addresses);

}  // namespace halo::layout
