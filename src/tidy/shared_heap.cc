// Entering a shared heap, and frees by threads that did not get in.
#include "tidy/shared_heap.h"

#include <pthread.h>

namespace halo::tidy {
namespace {

constexpr int kForkSpins = 1 << 20;  // some milliseconds

}  // namespace

SharedHeap::Served SharedHeap::allocate_inside(const uint64_t* key, uint32_t bytes) {
  if (remote_.load(std::memory_order_relaxed) != nullptr) drain();
  const Place place = key != nullptr ? heap_.allocate(*key, bytes) : heap_.allocate_common(bytes);
  if (key != nullptr && place != decltype(heap_)::kRefused) {
    const Place before = recent_.add(place, *key, bytes);
    if (before != RecentBlocks::kNoPlace) heap_.free(before);
  }
  leave();
  if (place == decltype(heap_)::kRefused) return {Answer::kRefused};
  return {Answer::kServed, page_memory.address_of(place)};
}

SharedHeap::Served SharedHeap::allocate_near(const void* near, uint32_t bytes) {
  if (!enter()) return {Answer::kBusy};
  if (remote_.load(std::memory_order_relaxed) != nullptr) drain();
  const Place place = heap_.allocate_near(page_memory.place_of(near), bytes);
  leave();
  if (place == decltype(heap_)::kRefused) return {Answer::kRefused};
  return {Answer::kServed, page_memory.address_of(place)};
}

// A block that is kept for its key gives way each time, so that none is kept for long.
bool SharedHeap::free_unknown(Place place) {
  const Place before = recent_.drop_next();
  if (before != RecentBlocks::kNoPlace) heap_.free(before);
  return heap_.free(place);
}

void SharedHeap::free_inside(Place place) {
  free_unknown(place);
  leave();
}

void SharedHeap::free_of_thread(void* p, Place place) {
  const uintptr_t now = owner.load(std::memory_order_relaxed);
  const bool is_anothers = now != kNoOwner && now != pthread_self();
  if (is_anothers || !enter()) return push_remote(p);
  if (recent_.put(place) == RecentBlocks::Freed::kUnknown) return free_inside(place);
  leave();
}

void SharedHeap::push_remote(void* p) {
  if (size_of(p) == 0) return;  // not a used block
  void* head = remote_.load(std::memory_order_relaxed);
  do {
    *static_cast<void**>(p) = head;
  } while (!remote_.compare_exchange_weak(head, p, std::memory_order_release,
                                          std::memory_order_relaxed));
}

bool SharedHeap::may_start_block(const void* p) const {
  const Place place = page_memory.place_of(p);
  return place % kGranule == 0 && page_memory.contains(place) && page_memory.heap_of(place) == this;
}

void SharedHeap::drain() {
  void* p = remote_.exchange(nullptr, std::memory_order_acquire);
  // A write after free may have changed a link: the rest of the list is lost then.
  while (may_start_block(p)) {
    void* const below = *static_cast<void**>(p);
    // A block that is freed twice may be linked to itself: the rest of the list is lost then.
    const Place place = page_memory.place_of(p);
    const RecentBlocks::Freed freed = recent_.put(place);
    const bool is_unknown = freed == RecentBlocks::Freed::kUnknown && !free_unknown(place);
    if (is_unknown || freed == RecentBlocks::Freed::kTwice) return;
    p = below;
  }
}

bool SharedHeap::count(HeapCounts& counts, uint64_t& resident) {
  if (!enter()) return false;
  drain();
  for (uint32_t at = 0; at < RecentBlocks::kEntries; ++at) {
    const Place kept = recent_.drop_next();
    if (kept != RecentBlocks::kNoPlace) heap_.free(kept);
  }
  counts += heap_.counts();
  resident += heap_.resident();
  leave();
  return true;
}

bool SharedHeap::enter_for_fork() {
  for (int i = 0; i < kForkSpins; ++i) {
    if (enter()) return true;
    __builtin_ia32_pause();
  }
  return false;
}

}  // namespace halo::tidy
