// The one file to follow the core's interface.
#include "fuzz/core.h"

#include "fuzz/finding.h"
#include "runtime/arena.h"
#include "runtime/callers.h"
#include "runtime/group_heap.h"
#include "runtime/thread_heap.h"

namespace halo::fuzz {

using namespace runtime;

namespace {

constexpr std::uint64_t latest_block = plan::max_object_limit;

thread_local bool was_over_budget = false;

// Of heaps that share a group, another may have changed since the refusal that was remembered.
bool is_wasteful(const GroupHeap& heap) {
  int heaps = 0;
  heap.thread()->for_each(heap.group(), [&](const GroupHeap&) { ++heaps; });
  return heaps > 1 || heap.resident_bytes() > heap.live_bytes() + chunk_size / 2;
}

}  // namespace

bool open_core(std::span<const plan::Group> groups, std::uint32_t max_object, std::size_t reserve) {
  configure_heaps(groups, max_object);
  return arena.reserve(reserve);
}

void* core_allocate(std::uint32_t group, std::size_t size, std::uint32_t alignment, bool zeroed) {
  ThreadHeap* heaps = thread_heap();
  if (heaps == nullptr) return nullptr;
  std::uint32_t bytes = block_bytes(size, alignment == 16);
  GroupHeap* heap = heaps->existing_heap(group, bytes);
  if (heap == nullptr) heap = heaps->heap(group, bytes);
  if (heap == nullptr) return nullptr;
  const std::uint64_t refusals = heap->refusals();
  void* p = zeroed ? heap->allocate_zeroed(bytes) : heap->allocate(bytes);
  was_over_budget = heap->refusals() != refusals && is_wasteful(*heap);
  return p;
}

bool core_was_over_budget() { return was_over_budget; }

bool core_deallocate(void* p) {
  Chunk& chunk = arena.chunk_of(p);
  GroupHeap* heap = chunk.owner.load(std::memory_order_relaxed);
  if (chunk.thread != current_heap) {
    heap->deallocate_remote(chunk, p);
    return true;
  }
  const std::uint32_t uniform = chunk.uniform.load(std::memory_order_relaxed);
  if (uniform == 0 || !heap->deallocate_quickly(uniform, p)) heap->deallocate(chunk, p);
  return false;
}

std::size_t core_size_of(const void* p) { return GroupHeap::size_of(arena.chunk_of(p), p); }

const char* core_placement_problem(const void* p, std::size_t bytes) {
  const char* last = static_cast<const char*>(p) + bytes - 1;
  if (!arena.contains(p) || !arena.contains(last)) return "a block lies outside the arena";
  const Chunk& chunk = arena.chunk_of(p);
  if (&chunk != &arena.chunk_of(last)) return "a block lies across two chunks";
  if (static_cast<const char*>(p) < arena.begin_of(chunk))
    return "a block lies before its chunk's begin";
  const GroupHeap* owner = chunk.owner.load(std::memory_order_relaxed);
  if (owner == nullptr) return "a live block lies in a chunk without an owner";
  if (owner->thread() != chunk.thread) return "a chunk and its heap name different threads";
  return nullptr;
}

GroupCounts core_counts(std::uint32_t group) {
  GroupCounts sum{};
  for (const ThreadHeap* t = first_thread_heap(); t != nullptr; t = t->next())
    t->for_each(group, [&](const GroupHeap& heap) {
      sum.allocations += heap.allocations();
      sum.live_bytes += heap.live_bytes();
      // The latest block may not be accounted for yet.
      require(heap.resident_bytes() + latest_block >= heap.live_bytes(),
              "a heap has more blocks than pages");
      require(heap.resident_bytes() <= heap.chunks() * chunk_size,
              "a heap has more pages than chunks");
    });
  return sum;
}

Verdict core_walk(const Table& table, const std::uintptr_t* slot, std::uintptr_t rbp) {
  const CallerCode code = find_caller(*slot);
  if (code == code_forward) return forward_verdict;
  require(planned(reinterpret_cast<const void*>(*slot)), "a caller in the plan is not seen");
  const Verdict verdict = identify_caller(table, code, slot, rbp);
  return verdict.alignment > 16 ? forward_verdict : verdict;
}

}  // namespace halo::fuzz
