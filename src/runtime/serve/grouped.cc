// Connects identification with the group heaps.
#include "runtime/serve/grouped.h"

#include <dlfcn.h>

#include <cstring>
#include <new>

#include "base/old_c_library.h"
#include "runtime/base/diagnosis.h"
#include "runtime/base/next.h"
#include "runtime/diagnose/check.h"
#include "runtime/extra.h"
#include "runtime/heap/thread_heap.h"
#include "runtime/identify/identifier.h"
#include "runtime/identify/walk_counts.h"
#include "runtime/pages/arena.h"
#include "runtime/serve/global_policy.h"
#include "runtime/serve/requests.h"

namespace halo::runtime {

constinit uint32_t max_object = 0;
constinit uint64_t fast_max = 0;
constinit uint64_t fast_direct_max = 0;
constinit bool clearing_whole_blocks = false;

namespace {

void* new_by_malloc(size_t size) {
  if (void* p = fallback.malloc(size == 0 ? 1 : size)) [[likely]]
    return p;
  return refused_new("_Znwm", size);
}

void* new_by_programs_malloc(size_t size) {
  if (void* p = programs_allocator.malloc(size == 0 ? 1 : size)) [[likely]]
    return p;
  return refused_new("_Znwm", size);
}

// The first call, which decides between the two, unless a policy was set.
void* first_new(size_t size) {
  resolve_next();
  const bool is_programs = programs_allocator.malloc != nullptr;
  NewFunction before = first_new, chosen = is_programs ? new_by_programs_malloc : new_by_malloc;
  __atomic_compare_exchange(&new_of_others, &before, &chosen, false, __ATOMIC_RELAXED,
                            __ATOMIC_RELAXED);
  return new_of_others(size);
}

// The program's call into the runtime: the slot of its return address, and its rbp.
struct CallSite {
  const uintptr_t* slot;
  uintptr_t rbp;
};

inline Verdict verdict_for(CallSite site) {
  const CallerCode code = find_caller(*site.slot);
  if (code == kCodeForward) return kForwardVerdict;
  const Table& table = *__atomic_load_n(&current_table, __ATOMIC_ACQUIRE);
  const Verdict verdict = identify_caller(table, code, site.slot, site.rbp);
  check_walk(table, site.slot, verdict);
  if (counting_all && !is_decided(code)) [[unlikely]]
    count_walk(verdict);
  return verdict;
}

// A block for `size` bytes of that group; nullptr: forward.
inline void* allocate_for(Verdict verdict, size_t size) {
  // Alignments above malloc's own 16 bytes are left to the next allocator.
  if (verdict.group == plan::kVerdictForward || verdict.alignment > 16) return nullptr;
  ThreadHeap* heaps = thread_heap();
  if (heaps == nullptr) return nullptr;
  const InsideHeap inside(heaps);
  const uint32_t bytes = block_bytes(size, verdict.alignment == 16);
  GroupHeap* heap = heaps->heap_for(verdict.group, bytes);
  if (heap == nullptr) return track_alloc(heaps->allocate_stepping(verdict.group, bytes));
  void* p = heap->allocate(bytes);
  if (p != nullptr && heap->group() != verdict.group) heaps->count_shared(verdict.group);
  return track_alloc(p);
}

// Frees a block of a page that no thread owns. A page without any owner never had a block: the
// pointer is foreign, and ignored.
[[gnu::noinline]] void free_unowned(const ThreadHeap* owner, void* p) {
  if (owner != kSteppingOwner) return;
  ThreadHeap* const heaps = current_heap;
  if (heaps == nullptr) return free_stepping(p);
  const InsideHeap inside(heaps);
  free_stepping(p);
}

// A span for an object that is too large for its group's heap.
[[gnu::noinline]] Span allocate_large(size_t size, CallSite site) {
  if (!may_be_span(size)) return {};
  const Verdict verdict = verdict_for(site);
  return verdict.group == plan::kVerdictForward ? Span{} : allocate_span(verdict.group, size);
}

inline void* allocate_grouped(size_t size, CallSite site) {
  if (size > max_object) [[unlikely]]
    return allocate_large(size, site).p;
  return allocate_for(verdict_for(site), size);
}

// calloc of a span, which needs no clearing if it was never used.
[[gnu::noinline]] void* calloc_large(size_t size, CallSite site) {
  return cleared(allocate_large(size, site), size);
}

}  // namespace

constinit NewFunction new_of_others = first_new;

void* allocate_in(CallerCode code, size_t size) { return allocate_for(verdict_of(code, 0), size); }

Verdict verdict_of_request(const uintptr_t* slot, uintptr_t rbp) {
  if (global_policy != nullptr) return verdict_of(global_policy(slot), 0);
  const CallerCode code = find_caller(*slot);
  if (code == kCodeForward) return kForwardVerdict;
  return identify_caller(*__atomic_load_n(&current_table, __ATOMIC_ACQUIRE), code, slot, rbp);
}

void free_grouped(void* p) {
  if (!track_free(p)) return;
  Page& page = arena.page_of(p);
  const ThreadHeap* owner = page.thread.load(std::memory_order_acquire);
  if (!is_thread(owner)) return free_unowned(owner, p);
  ThreadHeap* const heaps = current_heap;
  if (owner != heaps) return const_cast<ThreadHeap*>(owner)->free_remotely(page, p);
  const InsideHeap inside(heaps);
  page.heap->deallocate(page, p);
}

void* find_operator(const char* name) {
  if (void* found = find_symbol(RTLD_NEXT, name)) return found;
  void* library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
  return library == nullptr ? nullptr : find_symbol(library, name);
}

bool is_in_owned_page(const void* p) {
  return arena.page_of(p).thread.load(std::memory_order_relaxed) != nullptr;
}

bool is_block_in_use(const void* p) { return is_in_owned_page(p) && !GroupHeap::looks_free(p); }

size_t usable_size_grouped(const void* p) { return GroupHeap::size_of(arena.page_of(p), p); }

}  // namespace halo::runtime

using namespace halo::runtime;

extern "C" {

__attribute__((used)) void* halo_malloc_planned(size_t size, const uintptr_t* slot, uintptr_t rbp) {
  if (void* p = allocate_grouped(size, {slot, rbp})) return p;
  return fallback.malloc(size);
}

__attribute__((used)) void* halo_new_planned(size_t size, const uintptr_t* slot, uintptr_t rbp) {
  if (void* p = allocate_grouped(size, {slot, rbp})) return p;
  void* p = fallback.malloc(size == 0 ? 1 : size);
  return p != nullptr ? p : refused_new("_Znwm", size);
}

__attribute__((used)) void* halo_new_nothrow_planned(size_t size, const std::nothrow_t& tag,
                                                     const uintptr_t* slot, uintptr_t rbp) {
  if (void* p = allocate_grouped(size, {slot, rbp})) [[likely]]
    return p;
  void* p = fallback.malloc(size == 0 ? 1 : size);
  return p != nullptr ? p : refused_new("_ZnwmRKSt9nothrow_t", size, &tag);
}

__attribute__((used)) void* halo_calloc_planned(size_t count, size_t size, const uintptr_t* slot,
                                                uintptr_t rbp) {
  const auto allocate = [&](size_t bytes) { return allocate_grouped(bytes, {slot, rbp}); };
  size_t bytes;
  const bool large = !__builtin_mul_overflow(count, size, &bytes) && bytes > max_object;
  void* p = large ? calloc_large(bytes, {slot, rbp}) : calloc_in_group(count, size, allocate);
  return p != nullptr ? p : fallback.calloc(count, size);
}

__attribute__((used)) void* halo_realloc_planned(void* p, size_t size, const uintptr_t* slot,
                                                 uintptr_t rbp) {
  const auto allocate = [&](size_t bytes) { return allocate_grouped(bytes, {slot, rbp}); };
  if (!arena.contains(p))
    return span_stays(p, size) ? p : realloc_into_group(next, p, size, allocate);
  if (size == 0) {
    release(p);
    return nullptr;
  }
  if (!is_in_owned_page(p)) [[unlikely]] {
    track_free(p);
    void* made = allocate(size);
    return made != nullptr ? made : next.malloc(size);
  }
  const size_t old = usable_size_grouped(p);
  if (!is_block_in_use(p)) [[unlikely]] {
    // Freed already, or a block whose contents look like those of a freed one. It is lost then, but
    // not its contents.
    track_free(p);
    void* made = allocate(size);
    if (made == nullptr) made = next.malloc(size);
    if (made != nullptr) copy_block(made, size, p, old);
    return made;
  }
  if (stays_in_place(p, old, size, [&] { return verdict_for({slot, rbp}).alignment; })) return p;
  void* moved = allocate(size);
  if (moved == nullptr) moved = next.malloc(size);
  if (moved == nullptr) return size <= old ? p : nullptr;
  copy_block(moved, size, p, old);
  release(p);
  return moved;
}

}  // extern "C"
