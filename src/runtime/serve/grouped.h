// Allocations whose caller may be in the plan: identify, then serve from the group or forward.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/diagnosis.h"
#include "runtime/base/exported.h"
#include "runtime/base/next.h"
#include "runtime/heap/free_in_page.h"
#include "runtime/heap/thread_heap.h"
#include "runtime/identify/callers.h"
#include "runtime/identify/identifier.h"

namespace halo::runtime {

// In bytes; larger requests are forwarded. 0: no plan.
HALO_HIDDEN extern constinit uint32_t max_object;
// Maximum size of the fast paths: max_object, or 0 while everything is counted.
HALO_HIDDEN extern constinit uint64_t fast_max;
// Likewise, but at most kMaxDirect.
HALO_HIDDEN extern constinit uint64_t fast_direct_max;

// The slot of the return address of the enclosing function, into which this is inlined.
[[gnu::always_inline]] inline const uintptr_t* own_slot() {
  return static_cast<const uintptr_t*>(__builtin_dwarf_cfa()) - 1;
}

// The code of the state that the walk from the undecided state `now` reaches. The first steps are
// unrolled: backward jumps would dominate their cost.
template <int Ahead = 6>
[[gnu::always_inline]] inline CallerCode decide_walk(const State* now, const uintptr_t* slot) {
  if constexpr (Ahead == 0) {
    return walk_fast(now, slot)->code;
  } else {
    now = next_fast(now, slot);
    if (now == nullptr) return kCodeForward;
    return is_decided(now->code) ? now->code : decide_walk<Ahead - 1>(now, slot);
  }
}

// Whether a fast path for at most `MaxBytes` bytes may serve `size`. The subtraction turns 0 into
// the largest value.
template <size_t MaxBytes>
bool is_fast_size(size_t size) {
  return !kCheckingBuild && size - 1 < (MaxBytes <= kMaxDirect ? fast_direct_max : fast_max);
}

// The newest freed block of that class and group in the calling thread, else nullptr; for 1 to
// `MaxBytes` bytes.
template <size_t MaxBytes = plan::kMaxObjectLimit>
[[gnu::always_inline]] inline void* served_block(CallerCode code, size_t size) {
  ThreadHeap* const heaps = current_heap;
  if (heaps == nullptr) [[unlikely]]
    return nullptr;
  const size_t number = ThreadHeap::class_of<MaxBytes>(code, size);
  enter_heap();
  void* const p = take_listed(heaps->list_of(code, number));
  leave_heap(heaps);
  return p;
}

// The code for an allocation of the caller with the word `word`, without a stack frame of our own.
// If more than a walk by constant distances is needed, it returns a code that is not decided.
[[gnu::always_inline]] inline CallerCode decide_fast(uint64_t word, const uintptr_t* slot) {
  if (word >> 16 != *slot) return kCodeUnknown;
  const auto code = static_cast<CallerCode>(word);
  if (is_decided(code)) return code;
  const State* from = __atomic_load_n(&root_states[root_child_of(code)], __ATOMIC_ACQUIRE);
  if (address_now(from->address) != *slot) return kCodeUnknown;  // its module has moved
  asm(""
      : "+r"(slot));  // delays the computation until it
                      // is needed
  return decide_walk(from, slot);
}

// If the list is empty, what serves next by a fast path; else nullptr.
inline void* next_block(CallerCode code, size_t size) {
  ThreadHeap* const heaps = current_heap;
  GroupHeap* const heap = heaps == nullptr ? nullptr : heaps->own_heap(group_of(code));
  if (heap == nullptr) return nullptr;
  const size_t number = ThreadHeap::class_of<plan::kMaxObjectLimit>(code, size);
  FreeList& list = heaps->list_of(code, number);
  if (list.newest % 2 == 0) return nullptr;  // its link was overwritten
  enter_heap();
  void* const p = heap->allocate_next(list);
  leave_heap(heaps);
  return p;
}

// malloc or operator new for a fast-path size of 1 to MaxBytes bytes and a caller with that word.
// `enter` is the general path; `otherwise` serves what no list has.
template <size_t MaxBytes>
[[gnu::always_inline]] inline void* serve_decided(size_t size, uint64_t word,
                                                  void* (*enter)(size_t),
                                                  void* (*otherwise)(size_t, CallerCode)) {
  const CallerCode code = decide_fast(word, own_slot());
  if (!is_decided(code)) [[unlikely]]
    return enter(size);
  if (void* p = served_block<MaxBytes>(code, size)) [[likely]]
    return p;
  return otherwise(size, code);
}

// A block for at most `max_object` bytes of that code's group; nullptr: forward.
void* allocate_in(CallerCode code, size_t size);

// The verdict for a request by the call whose return address is at `slot` and whose caller's rbp is
// `rbp`. Counts nothing.
Verdict verdict_of_request(const uintptr_t* slot, uintptr_t rbp);

// Must be called only for addresses inside the arena.
void free_grouped(void* p);
// Whether `p` may be a block that the program owns.
bool is_block_in_use(const void* p);
size_t usable_size_grouped(const void* p);

// The size of a block of any heap, or of the next allocator's; 0 for null.
inline size_t usable_size(const void* p) {
  if (arena.contains(p)) return usable_size_grouped(p);
  return next.usable_size != nullptr && p != nullptr ? next.usable_size(const_cast<void*>(p)) : 0;
}

// Frees `p` to the heap that served it, or to `other`, a function of the next allocator.
[[gnu::always_inline]] inline void release_or(void* p, void (*const& other)(void*)) {
  const uintptr_t page = arena.index_of(p);
  if (page >= arena.page_limit()) return other(p);
  free_in_page(arena.page_at(page), p, free_grouped);
}
[[gnu::always_inline]] inline void release(void* p) { release_or(p, next.free); }

// operator new for callers that are not in the plan: malloc, or the global policy. Entered by a
// jump.
using NewFunction = void* (*)(size_t size);
HALO_HIDDEN extern constinit NewFunction new_of_others;

// The C++ library's function with that mangled name, or nullptr. The library may have been loaded
// by dlopen.
void* find_operator(const char* name);

// Called if memory was refused or an operator was replaced. The C++ library's own form handles new
// handlers, exceptions and replaced operators. Returns nullptr if no C++ library is loaded.
template <typename... Arguments>
[[gnu::cold]] void* refused_new(const char* name, Arguments... arguments) {
  using Function = void* (*)(Arguments...);
  const auto function = reinterpret_cast<Function>(find_operator(name));
  return function == nullptr ? nullptr : function(arguments...);
}

}  // namespace halo::runtime

// Trampolines (entry.cc). The exported function of the same name enters them by a jump; they pass
// on the slot of the program's return address and the caller's rbp.
extern "C" {
void* halo_enter_malloc(size_t size);
void* halo_enter_new(size_t size);
void* halo_enter_new_nothrow(size_t size, const void* tag);
void* halo_enter_calloc(size_t count, size_t size);
void* halo_enter_realloc(void* p, size_t size);
}
