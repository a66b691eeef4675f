// Runs Tidy's heap on addresses that do not exist.
#include "layout/tidy_placement.h"

#include <stdexcept>

#include "layout/lifetimes.h"
#include "layout/packing.h"
#include "tidy/simulated_memory.h"

namespace halo::layout {

std::vector<uint64_t> place_by_keys(const std::vector<ObjectFacts>& facts, const ObjectKeys& keys,
                                    const tidy::HeapSettings& settings, bool ignores_hints) {
  using Heap = tidy::CellHeap<tidy::SimulatedMemory>;
  tidy::SimulatedMemory memory;
  Heap heap(memory, settings);
  if (!heap.open()) throw std::runtime_error("too little memory to place its objects");
  std::vector<uint64_t> addresses;
  addresses.reserve(facts.size());
  for (const ObjectFacts& one : facts) addresses.push_back(one.address);
  for (const auto& [number, is_death] : lifetimes(facts)) {
    const ObjectFacts& one = facts[number];
    if (number >= keys.size() || !keys[number] || one.size > heap.max_bytes()) continue;
    if (is_death) {
      heap.free(addresses[number] - kFirstAddress);
      continue;
    }
    const uint32_t bytes = one.size == 0 ? 1 : one.size;
    const tidy::Place place =
        ignores_hints ? heap.allocate_common(bytes) : heap.allocate(*keys[number], bytes);
    if (place == Heap::kRefused) throw std::runtime_error("too little memory to place its objects");
    addresses[number] = kFirstAddress + place;
  }
  return addresses;
}

}  // namespace halo::layout
