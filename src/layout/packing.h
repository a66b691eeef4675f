// Addresses of objects in a given order.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "layout/object_facts.h"
#include "layout/orders.h"

namespace halo::layout {

// `step`: objects begin at its multiples. `overhead`: bytes before each object.
struct Packing {
  std::string_view name;
  uint32_t step;
  uint32_t overhead;
};

inline constexpr Packing kPackings[] = {
    {"dense", 8, 0},    // a bump pointer
    {"malloc", 16, 16}  // an allocator with headers
};

// Where no program of Linux on x86-64 has memory by default.
inline constexpr uint64_t kFirstAddress = 0x3000'0000'0000;

// By allocation number. Each object has memory of its own; those that the order leaves out follow
// the others.
inline std::vector<uint64_t> pack(const std::vector<ObjectFacts>& facts, const Order& order,
                                  const Packing& packing) {
  std::vector<uint64_t> addresses(facts.size());
  uint64_t next = kFirstAddress;
  const auto put = [&](uint64_t number) {
    addresses[number] = next + packing.overhead;
    const uint64_t bytes = uint64_t{facts[number].size} + packing.overhead;
    next += (bytes + packing.step - 1) / packing.step * packing.step;
  };
  for (const uint64_t number : order) put(number);
  for (uint64_t number = 1; number < facts.size(); ++number)
    if (addresses[number] == 0) put(number);
  return addresses;
}

}  // namespace halo::layout
