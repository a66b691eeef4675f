// The part of the shadow map that runs once per allocation.
#include "recorder/analysis/shadow_map.h"

#include <sys/mman.h>

#include <algorithm>

namespace halo::sinks {

bool ShadowMap::put(uint64_t address, uint32_t size, base::ObjectId id) {
  const uint64_t last = address + std::max(size, 1u) - 1;
  if (last >> kAddressBits != 0) return false;
  for (uint64_t at = address; at <= last;) {
    uint32_t* leaf = make_leaf(at);
    if (leaf == nullptr) return false;
    const uint64_t leaf_end = ((at >> kLeafShift) + 1) << kLeafShift;
    const uint64_t end = std::min(last, leaf_end - 1);
    std::fill(leaf + granule_in_leaf(at), leaf + granule_in_leaf(end) + 1, base::index(id));
    at = leaf_end;
  }
  return true;
}

uint32_t* ShadowMap::make_leaf(uint64_t address) {
  uint32_t*& leaf = top_[address >> kLeafShift];
  if (leaf == nullptr) {
    void* memory = mmap(nullptr, kLeafEntries * sizeof(uint32_t), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    leaf = static_cast<uint32_t*>(memory);
    ++leaves_;
  }
  return leaf;
}

}  // namespace halo::sinks
