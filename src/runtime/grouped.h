// Allocations whose caller may be in the plan: identify, then serve from the group or forward.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/callers.h"
#include "runtime/check.h"
#include "runtime/identifier.h"
#include "runtime/next.h"
#include "runtime/thread_heap.h"

namespace halo::runtime {

extern constinit std::uint32_t max_object;  // bytes; larger ones are forwarded. 0: no plan
// Sizes from here on are not served by walk_quickly. 0 while walks are counted, too.
extern constinit std::uint32_t quick_walk_end;

// What the caller's word says about it. code_unknown: look further.
inline CallerCode code_in(std::uint64_t word, std::uintptr_t caller) {
  return word >> 16 == caller ? static_cast<CallerCode>(word) : code_unknown;
}

// A block from the calling thread's heap if it is there and has one at hand, else nullptr.
inline void* block_at_hand(std::uint32_t group, std::uint32_t bytes) {
  const ThreadHeap* heaps = current_heap;
  if (heaps == nullptr) return nullptr;
  GroupHeap* heap = heaps->existing_heap(group, bytes);
  return heap == nullptr ? nullptr : heap->allocate_quickly(bytes);
}

// The quick way to serve an allocation whose caller alone decides its group, without a frame of our
// own on the stack. nullptr: not decided so, or something is to be done first.
inline void* serve_quickly(CallerCode code, std::size_t size) {
  if (checking_build || !is_decided(code) || size > max_object) return nullptr;
  return block_at_hand(group_of(code), round_block(size, align_mask(code)));
}

// The quick way where more frames decide, by constant distances alone. nullptr: the walk is not
// that simple, leads to no group, or something is to be done first.
[[gnu::always_inline]] inline void* walk_quickly(CallerCode code, std::size_t size,
                                                 const std::uintptr_t* slot) {
  if (checking_build || size >= quick_walk_end) return nullptr;
  const Table& table = *__atomic_load_n(&current_table, __ATOMIC_ACQUIRE);
  const std::uint32_t child = code ^ code_undecided;  // too large where the caller is decided
  if (child >= table.root_child_count) return nullptr;
  const State* now = &table.states[table.root_children[child]];
  if (now->address != *slot) return nullptr;  // its module has moved
  const Walk walk = walk_plainly(table, now, slot);
  if (walk.at->verdict >= plan::verdict_forward) return nullptr;
  return block_at_hand(walk.at->verdict, round_block(size, 7u | walk.at->alignment / 2));
}

// Frees `p`, which lies in that chunk, if that is quickly done.
inline bool free_quickly(Chunk& chunk, void* p) {
  const std::uint32_t uniform = chunk.uniform.load(std::memory_order_relaxed);
  if (checking_build || chunk.thread != current_heap || uniform == 0) return false;
  return chunk.owner.load(std::memory_order_relaxed)->deallocate_quickly(uniform, p);
}

// For blocks that the arena contains.
void free_grouped(void* p);
std::size_t usable_size_grouped(const void* p);

// Gives `p` back to whoever it came from.
[[gnu::always_inline]] inline void release(void* p) {
  const std::uintptr_t chunk = arena.index_of(p);
  if (chunk >= arena.chunk_limit()) return next.free(p);
  if (free_quickly(arena.chunk_at(chunk), p)) [[likely]]
    return;
  free_grouped(p);
}

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
void* halo_enter_malloc(std::size_t size, halo::runtime::CallerCode code);
void* halo_enter_new(std::size_t size, halo::runtime::CallerCode code);
void* halo_enter_new_nothrow(std::size_t size, const void* tag);
void* halo_enter_calloc(std::size_t count, std::size_t size);
void* halo_enter_realloc(void* p, std::size_t size);
}
