// Allocations whose caller may be in the plan: identify, then serve from the group or forward.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/callers.h"
#include "runtime/check.h"
#include "runtime/exported.h"
#include "runtime/identifier.h"
#include "runtime/next.h"
#include "runtime/thread_heap.h"

namespace halo::runtime {

// Bytes; larger ones are forwarded. 0: no plan.
HALO_HIDDEN extern constinit std::uint32_t max_object;
// The largest size that fast paths serve: max_object, or 0 while everything is counted.
HALO_HIDDEN extern constinit std::uint64_t quick_max;
// The same, but at most most_direct.
HALO_HIDDEN extern constinit std::uint64_t quick_direct;

// Where the return address of the function lies that this is inlined in.
[[gnu::always_inline]] inline const std::uintptr_t* own_slot() {
  return static_cast<const std::uintptr_t*>(__builtin_dwarf_cfa()) - 1;
}

// The code of the state that the walk from `now`, which is undecided, comes to. The first steps are
// laid out one behind the other: jumps back are what they would spend most of their time with.
template <int Ahead = 6>
[[gnu::always_inline]] inline CallerCode decide_plainly(const State* now,
                                                        const std::uintptr_t* slot) {
  if constexpr (Ahead == 0) {
    return walk_plainly(now, slot)->code;
  } else {
    now = next_plainly(now, slot);
    if (now == nullptr) return code_forward;
    return is_decided(now->code) ? now->code : decide_plainly<Ahead - 1>(now, slot);
  }
}

// Whether a fast path for at most `Most` bytes may serve `size`; 0 becomes the largest of all.
template <std::size_t Most>
bool is_quick(std::size_t size) {
  return !checking_build && size - 1 < (Most <= most_direct ? quick_direct : quick_max);
}

// A block that the calling thread has cached or ready, else nullptr; for 1 to `Most` bytes.
template <std::size_t Most = plan::max_object_limit>
[[gnu::always_inline]] inline void* cached_block(CallerCode code, std::size_t size) {
  ThreadHeap* const heaps = current_heap;
  if (heaps == nullptr) [[unlikely]]
    return nullptr;
  BlockCache& cache = heaps->cache_of<Most>(code, size);
  enter_heap();
  auto* block = static_cast<Block*>(cache.is_empty() ? cache.cut() : cache.pop_marked());
  leave_heap(heaps);
  if (block != nullptr) [[likely]]
    block->clear();
  return block;
}

// The code of an allocation whose caller's word is `word`, without a frame of our own on the stack,
// where no more has to be looked at: the walk is one by constant distances. Else one
// that is not decided: something else is to be done.
[[gnu::always_inline]] inline CallerCode decide_fast(std::uint64_t word,
                                                     const std::uintptr_t* slot) {
  if (word >> 16 != *slot) return code_unknown;
  const auto code = static_cast<CallerCode>(word);
  if (is_decided(code)) return code;
  const State* from = __atomic_load_n(&root_states[root_child_of(code)], __ATOMIC_ACQUIRE);
  if (address_now(from->address) != *slot) return code_unknown;  // its module has moved
  asm("" : "+r"(slot));                                          // not before it is needed
  return decide_plainly(from, slot);
}

// Frees `p`, which lies in that page, if the fast path can.
[[gnu::always_inline]] inline bool free_fast(const Page& page, void* p) {
  ThreadHeap* const heaps = current_heap;
  if (checking_build || page.thread.load(std::memory_order_relaxed) != heaps) [[unlikely]]
    return false;
  // Of pages in no heap none is out, so from here on the thread has a heap, and is outside it.
  if (!arena.is_out(p)) [[unlikely]]
    return false;
  BlockCache* const cache = cache_for_freed(page, p);
  if (cache == nullptr) [[unlikely]]
    return false;
  enter_heap();
  const bool fits = cache->push_marked(p);
  leave_heap(heaps);
  return fits;
}

// A block of a mixed page, where none is cached and the fast path can cut one off, else nullptr.
inline void* cut_block(CallerCode code, std::size_t size) {
  ThreadHeap* const heaps = current_heap;
  if (heaps == nullptr) return nullptr;
  BlockCache& cache = heaps->cache_of<plan::max_object_limit>(code, size);
  enter_heap();
  auto* block = static_cast<Block*>(cache.is_empty() ? cache.cut_fast() : nullptr);
  leave_heap(heaps);
  if (block != nullptr) block->clear();
  return block;
}

// malloc or operator new for a quick size of 1 to `Most` bytes and a caller of that word. `enter`
// identifies it by all means, and `cut` cuts a block off if none is cached.
template <std::size_t Most>
[[gnu::always_inline]] inline void* serve_decided(std::size_t size, std::uint64_t word,
                                                  void* (*enter)(std::size_t),
                                                  void* (*cut)(std::size_t, CallerCode)) {
  const CallerCode code = decide_fast(word, own_slot());
  if (!is_decided(code)) [[unlikely]]
    return enter(size);
  if (void* p = cached_block<Most>(code, size)) [[likely]]
    return p;
  return cut(size, code);
}

// A block for at most `max_object` bytes of that code's group; nullptr: forward.
void* allocate_in(CallerCode code, std::size_t size);

// Where malloc would have an object go that the call whose return address lies at `slot` asks for,
// the caller's rbp being `rbp`. Counts nothing.
Verdict verdict_of_request(const std::uintptr_t* slot, std::uintptr_t rbp);

// For blocks that the arena contains.
void free_grouped(void* p);
// Whether that may be a block that the program has.
bool is_block_in_use(const void* p);
std::size_t usable_size_grouped(const void* p);

// Gives `p` back to whoever it came from.
[[gnu::always_inline]] inline void release(void* p) {
  const std::uintptr_t page = arena.index_of(p);
  if (page >= arena.page_limit()) return next.free(p);
  if (free_fast(arena.page_at(page), p)) [[likely]]
    return;
  free_grouped(p);
}

// operator new of callers in no plan: by malloc, or by whoever decides about every allocation.
// Entered by a jump.
void* new_by_malloc(std::size_t size);
using NewFunction = void* (*)(std::size_t size);
HALO_HIDDEN extern constinit NewFunction new_of_others;

// The C++ library's function of that mangled name, or nullptr. It may have come by dlopen.
void* find_operator(const char* name);

// Memory was refused, or an operator was replaced: the C++ library's own form knows about new
// handlers, exceptions and replaced operators. nullptr where there is no such library.
template <typename... Arguments>
[[gnu::cold]] void* refused_new(const char* name, Arguments... arguments) {
  using Function = void* (*)(Arguments...);
  const auto function = reinterpret_cast<Function>(find_operator(name));
  return function == nullptr ? nullptr : function(arguments...);
}

}  // namespace halo::runtime

// Trampolines (entry.cc): entered by a jump from the exported function of the same name, they pass
// on the slot of the program's return address and the caller's rbp.
extern "C" {
void* halo_enter_malloc(std::size_t size);
void* halo_enter_new(std::size_t size);
void* halo_enter_new_nothrow(std::size_t size, const void* tag);
void* halo_enter_calloc(std::size_t count, std::size_t size);
void* halo_enter_realloc(void* p, std::size_t size);
}
