// The only file that depends on the core's interface.
#include "fuzz/core.h"

#include <sched.h>

#include <cstring>

#include "fuzz/finding.h"
#include "runtime/extra/stepping/stepping_heap.h"
#include "runtime/heap/free_in_page.h"
#include "runtime/identify/callers.h"
#include "runtime/pages/arena.h"
#include "runtime/serve/grouped.h"

namespace halo::fuzz {

using namespace runtime;

namespace {

// Refused while another thread holds the lock and does not run.
void* allocate_stepping(ThreadHeap& heaps, uint32_t group, uint32_t bytes) {
  for (int i = 0; i < 100; ++i) {
    if (void* p = heaps.allocate_stepping(group, bytes)) return p;
    sched_yield();
  }
  return nullptr;
}

}  // namespace

bool open_core(std::span<const plan::Group> groups, uint32_t max_object, size_t reserve) {
  configure_heaps(groups, max_object);
  return arena.reserve(reserve);
}

void* core_allocate(uint32_t group, size_t size, uint32_t alignment, bool zeroed) {
  ThreadHeap* heaps = thread_heap();
  if (heaps == nullptr) return nullptr;
  const InsideHeap inside(heaps);
  const uint32_t bytes = block_bytes(size, alignment == 16);
  GroupHeap* heap = heaps->own_heap_of(group);
  void* p = heap != nullptr ? heap->allocate(bytes) : nullptr;
  if (steps(group)) p = allocate_stepping(*heaps, group, bytes);
  return p == nullptr || !zeroed ? p : std::memset(p, 0, size);
}

bool core_deallocate(void* p) {
  Page& page = arena.page_of(p);
  ThreadHeap* const heaps = current_heap;
  const ThreadHeap* owner = page.thread.load(std::memory_order_relaxed);
  if (owner == kSteppingOwner) {
    stepping_heap.free(p);
    return true;
  }
  if (owner != heaps) {
    const_cast<ThreadHeap*>(owner)->free_remotely(page, p);
    return true;
  }
  free_in_page(page, p, [](void* block) {
    const InsideHeap inside(current_heap);
    Page& of_block = arena.page_of(block);
    of_block.heap->deallocate(of_block, block);
  });
  return false;
}

size_t core_size_of(const void* p) { return GroupHeap::size_of(arena.page_of(p), p); }

const char* core_placement_problem(const void* p, size_t bytes) {
  const char* last = static_cast<const char*>(p) + bytes - 1;
  if (!arena.contains(p) || !arena.contains(last)) return "a block lies outside the arena";
  const Page& page = arena.page_of(p);
  if (&page != &arena.page_of(last)) return "a block lies across two pages";
  if (!GroupHeap::may_be_in_use(p)) return "a block starts where none is out";
  if (page.heap == nullptr && page.thread.load() != kSteppingOwner)
    return "a live block lies in a page that is in no heap";
  return nullptr;
}

GroupCounts core_counts(uint32_t group) {
  GroupCounts sum{};
  if (steps(group)) sum.live_bytes = stepping_heap.counts().live;
  for (const ThreadHeap* t = first_thread_heap(); t != nullptr; t = t->next()) {
    if (steps(group)) sum.allocations += t->shared_allocations(group);
    if (const GroupHeap* heap = t->existing_heap(group)) {
      sum.allocations += heap->allocations();
      sum.live_bytes += heap->live_bytes();
      require(heap->resident_bytes() >= heap->live_bytes(), "a heap has more blocks than memory");
      require(heap->resident_bytes() <= heap->pages() * kPageSize,
              "a heap has more memory than pages");
    }
  }
  return sum;
}

Verdict core_walk(const Table& table, const uintptr_t* slot, uintptr_t rbp) {
  const CallerCode code = find_caller(*slot);
  if (code == kCodeForward) return kForwardVerdict;
  require(planned(reinterpret_cast<const void*>(*slot)), "a caller in the plan is not seen");
  const Verdict verdict = identify_caller(table, code, slot, rbp);
  return verdict.alignment > 16 ? kForwardVerdict : verdict;
}

}  // namespace halo::fuzz
