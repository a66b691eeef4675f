// Entering a shared heap, and frees by threads that did not get in.
#include "tidy/shared_heap.h"

#include <pthread.h>

namespace halo::tidy {
namespace {

constexpr int kForkSpins = 1 << 20;  // some milliseconds

}  // namespace

SharedHeap::Served SharedHeap::allocate(const uint64_t* key, uint32_t bytes) {
  if (!enter()) return {Answer::busy};
  if (remote_.load(std::memory_order_relaxed) != nullptr) drain();
  const Place place = key != nullptr ? heap_.allocate(*key, bytes) : heap_.allocate_common(bytes);
  leave();
  if (place == decltype(heap_)::kRefused) return {Answer::refused};
  return {Answer::served, page_memory.address_of(place)};
}

SharedHeap::Served SharedHeap::allocate_near(const void* near, uint32_t bytes) {
  if (!enter()) return {Answer::busy};
  if (remote_.load(std::memory_order_relaxed) != nullptr) drain();
  const Place place = heap_.allocate_near(page_memory.place_of(near), bytes);
  leave();
  if (place == decltype(heap_)::kRefused) return {Answer::refused};
  return {Answer::served, page_memory.address_of(place)};
}

bool SharedHeap::is_anothers() const {
  const uintptr_t now = owner.load(std::memory_order_relaxed);
  return now != kAllThreads && now != kNoOwner && now != pthread_self();
}

void SharedHeap::free(void* p) {
  if (is_anothers() || !enter()) return push_remote(p);
  heap_.free(page_memory.place_of(p));
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

void SharedHeap::drain() {
  void* p = remote_.exchange(nullptr, std::memory_order_acquire);
  while (p != nullptr) {
    void* const below = *static_cast<void**>(p);
    // A block that is freed twice may be linked to itself: the rest of the list is lost then.
    if (!heap_.free(page_memory.place_of(p))) return;
    p = below;
  }
}

bool SharedHeap::count(HeapCounts& counts, uint64_t& resident) {
  if (!enter()) return false;
  drain();
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
