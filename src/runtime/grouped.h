// Allocations whose caller may be in the plan: identify, then serve from the group or forward.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/callers.h"
#include "runtime/check.h"
#include "runtime/thread_heap.h"

namespace halo::runtime {

extern constinit std::uint32_t max_object;  // bytes; larger ones are forwarded. 0: no plan

// The quick way to serve an allocation whose caller alone decides its group, without a frame of our
// own on the stack. nullptr: not decided so, or something is to be done first.
inline void* serve_quickly(std::uint64_t word, std::uintptr_t caller, std::size_t size) {
  if (checking_build || word >> 16 != caller || size > max_object) return nullptr;
  const auto code = static_cast<CallerCode>(word);
  const ThreadHeap* heaps = current_heap;
  if (!is_decided(code) || heaps == nullptr) return nullptr;
  const std::uint32_t bytes = round_block(size, align_mask(code));
  GroupHeap* heap = heaps->existing_heap(group_of(code), bytes);
  return heap == nullptr ? nullptr : heap->allocate_quickly(bytes);
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
