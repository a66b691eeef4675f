// operator new and delete, all twenty forms.
#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <new>

#include "base/old_c_library.h"
#include "runtime/base/exports.h"
#include "runtime/base/next.h"
#include "runtime/serve/grouped.h"

using halo::plan::kMaxObjectLimit;
using halo::runtime::caller_hash;
using halo::runtime::caller_word_at;
using halo::runtime::CallerCode;
using halo::runtime::fallback;
using halo::runtime::is_fast_size;
using halo::runtime::kMaxDirect;
using halo::runtime::new_of_others;
using halo::runtime::next;
using halo::runtime::next_block;
using halo::runtime::own_slot;
using halo::runtime::planned;
using halo::runtime::programs_allocator;
using halo::runtime::refused_new;
using halo::runtime::release_or;
using halo::runtime::resolve_next;
using halo::runtime::serve_decided;

HALO_EXPORTED_OPERATORS(HALO_DECLARE)

#define HALO_OPERATOR
#include "base/operators.inc"

namespace {

// If rounding `size` up overflows, returns nullptr and a size that no library can serve: the C++
// library's own form, which is tried next, may overflow as well.
void* allocate_aligned(size_t& size, std::align_val_t alignment) {
  const auto step = static_cast<size_t>(alignment);
  const size_t rounded = (size + step - 1) & ~(step - 1);
  if (rounded < size) {
    size = SIZE_MAX / 2 + 1;
    return nullptr;
  }
  resolve_next();
  const auto function = programs_allocator.aligned_alloc != nullptr
                            ? programs_allocator.aligned_alloc
                            : next.aligned_alloc;
  return function(step, rounded == 0 ? step : rounded);
}

void* forward_new(size_t size) {
  resolve_next();
  return programs_allocator.malloc != nullptr ? programs_allocator.malloc(size)
                                              : fallback.malloc(size);
}

}  // namespace

// Entered by a jump, as a part of the exported operator.

__attribute__((noinline)) static void* next_for_new(size_t size, CallerCode code) {
  if (void* p = next_block(code, size)) [[likely]]
    return p;
  return halo_enter_new(size);
}

__attribute__((noinline)) static void* serve_larger_new(size_t size, uint64_t word) {
  if (!is_fast_size<kMaxObjectLimit>(size)) return halo_enter_new(size);
  return serve_decided<kMaxObjectLimit>(size, word, halo_enter_new, next_for_new);
}

extern "C" __attribute__((used, noinline)) void* halo_serve_new(size_t size, uint64_t word) {
  if (!is_fast_size<kMaxDirect>(size)) [[unlikely]]
    return serve_larger_new(size, word);
  return serve_decided<kMaxDirect>(size, word, halo_enter_new, next_for_new);
}

namespace {

using Tag = const std::nothrow_t*;
constexpr const char* kNothrowName = "_ZnwmRKSt9nothrow_t";
constexpr const char* kAlignedNothrowName = "_ZnwmSt11align_val_tRKSt9nothrow_t";

using NothrowNew = void* (*)(size_t, Tag);
using AlignedNothrowNew = void* (*)(size_t, std::align_val_t, Tag);
constinit std::atomic<NothrowNew> nothrow_new{nullptr};
constinit std::atomic<AlignedNothrowNew> aligned_nothrow_new{nullptr};

// The operator of that name in the libraries that the program is linked to, which stay loaded.
// Kept, because a search takes the loader's lock: another thread may hold it, and wait for one of
// ours.
template <typename Function>
Function linked_operator(std::atomic<Function>& known, const char* name) {
  Function found = known.load(std::memory_order_acquire);
  if (found == nullptr) {
    found = reinterpret_cast<Function>(halo::find_symbol(RTLD_NEXT, name));
    known.store(found, std::memory_order_release);
  }
  return found;
}

}  // namespace

void* operator new(size_t size) {
  const uint64_t word = caller_word_at(caller_hash(*own_slot()));
  if (word != 0) [[unlikely]]
    return halo_serve_new(size, word);
  return new_of_others(size);
}

void* operator new(size_t size, const std::nothrow_t& tag) noexcept {
  if (!new_is_ours()) {
    const NothrowNew function = linked_operator(nothrow_new, kNothrowName);
    return function != nullptr ? function(size, &tag) : refused_new(kNothrowName, size, &tag);
  }
  if (planned(__builtin_return_address(0))) [[unlikely]]
    return halo_enter_new_nothrow(size, &tag);
  if (void* p = forward_new(size == 0 ? 1 : size)) [[likely]]
    return p;
  return refused_new(kNothrowName, size, &tag);
}

void* operator new(size_t size, std::align_val_t alignment) {
  if (void* p = allocate_aligned(size, alignment)) return p;
  return refused_new("_ZnwmSt11align_val_t", size, alignment);
}

void* operator new(size_t size, std::align_val_t alignment, const std::nothrow_t& tag) noexcept {
  if (aligned_new_is_ours()) {
    if (void* p = allocate_aligned(size, alignment)) return p;
  } else if (const AlignedNothrowNew function =
                 linked_operator(aligned_nothrow_new, kAlignedNothrowName);
             function != nullptr) {
    return function(size, alignment, &tag);
  }
  return refused_new(kAlignedNothrowName, size, alignment, &tag);
}

void operator delete(void* p) noexcept { release_or(p, next.free_of_new); }
void operator delete(void* p, std::align_val_t) noexcept { release_or(p, next.free_of_new); }
