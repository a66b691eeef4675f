// The memory of the rings, and the list of free ones.
#include "tracing/library/ring.h"

#include <sys/mman.h>

#include <new>

namespace halo::logging {

constinit RingTable rings;

char* map_segment() {
  void* at = mmap(nullptr, 2 * kSegmentBytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(at);
  const uint64_t before = -reinterpret_cast<uint64_t>(begin) & kSegmentMask;
  if (before != 0) munmap(begin, before);
  munmap(begin + before + kSegmentBytes, kSegmentBytes - before);
  return begin + before;
}

Ring* RingTable::make() {
  const uint32_t number = count_.load(std::memory_order_relaxed);
  if (number == kMax) return nullptr;
  if (rings_[number] == nullptr) {
    // The header of its first segment is never written by the hook.
    char* segment = map_segment();
    if (segment == nullptr) return nullptr;
    static_assert(sizeof(Ring) <= kRecordsBegin);
    rings_[number] = new (segment) Ring{};
    rings_[number]->segments[0] = segment;
  }
  Ring* const ring = rings_[number];
  ring->number = number;
  ring->at_byte = kRecordsBegin;
  count_.store(number + 1, std::memory_order_release);
  return ring;
}

Ring* RingTable::take() {
  const Locked locked(lock_);
  if (free_count_ == 0) return make();
  return rings_[free_[--free_count_]];
}

void RingTable::release(Ring* ring) {
  const Locked locked(lock_);
  ring->ended = false;
  free_[free_count_++] = ring->number;
}

// Records that the parent had buffered are the parent's. The memory stays mapped, because an
// interrupted handler in the forking thread may still write to it.
void RingTable::reset() {
  for (uint32_t at = 0; at < count_.load(std::memory_order_relaxed); ++at) rings_[at] = nullptr;
  count_.store(0, std::memory_order_relaxed);
  free_count_ = 0;
  new (&lock_) Lock;
}

}  // namespace halo::logging
