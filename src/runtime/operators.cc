// operator new and delete, all twenty forms. They keep the relations that the standard's own have:
// each form calls the one below it by its public name, so that a program may replace some of them.
#include <dlfcn.h>

#include <cstddef>
#include <new>

#include "runtime/arena.h"
#include "runtime/exported.h"
#include "runtime/grouped.h"
#include "runtime/next.h"

using halo::plan::max_object_limit;
using halo::runtime::arena;
using halo::runtime::caller_hash;
using halo::runtime::caller_word_at;
using halo::runtime::CallerCode;
using halo::runtime::cut_block;
using halo::runtime::fallback;
using halo::runtime::is_quick;
using halo::runtime::most_direct;
using halo::runtime::new_of_others;
using halo::runtime::next;
using halo::runtime::own_slot;
using halo::runtime::planned;
using halo::runtime::refused_new;
using halo::runtime::release;
using halo::runtime::serve_decided;

namespace {

// Where rounding `size` up wraps, nullptr, and a size that no library can serve: the C++ library's
// own form, which is asked next, may wrap as well.
void* allocate_aligned(std::size_t& size, std::align_val_t alignment) {
  const auto step = static_cast<std::size_t>(alignment);
  const std::size_t rounded = (size + step - 1) & ~(step - 1);
  if (rounded < size) {
    size = SIZE_MAX / 2 + 1;
    return nullptr;
  }
  return next.aligned_alloc(step, rounded == 0 ? step : rounded);
}

// Names for ours that nobody can replace.
extern "C" {
void* halo_own_new(std::size_t)
    __attribute__((alias("_Znwm"), visibility("hidden"), malloc, alloc_size(1)));
void* halo_own_new_aligned(std::size_t, std::align_val_t)
    __attribute__((alias("_ZnwmSt11align_val_t"), visibility("hidden"), malloc, alloc_size(1)));
}

bool new_is_ours() { return static_cast<void* (*)(std::size_t)>(&::operator new) == &halo_own_new; }

bool aligned_new_is_ours() {
  return static_cast<void* (*)(std::size_t, std::align_val_t)>(&::operator new) ==
         &halo_own_new_aligned;
}

}  // namespace

// Entered by a jump, as the function that they are part of.

__attribute__((noinline)) static void* cut_for_new(std::size_t size, CallerCode code) {
  if (void* p = cut_block(code, size)) [[likely]]
    return p;
  return halo_enter_new(size);
}

__attribute__((noinline)) static void* serve_larger_new(std::size_t size, std::uint64_t word) {
  if (!is_quick<max_object_limit>(size)) return halo_enter_new(size);
  return serve_decided<max_object_limit>(size, word, halo_enter_new, cut_for_new);
}

extern "C" __attribute__((used, noinline)) void* halo_serve_new(std::size_t size,
                                                                std::uint64_t word) {
  if (!is_quick<most_direct>(size)) [[unlikely]]
    return serve_larger_new(size, word);
  return serve_decided<most_direct>(size, word, halo_enter_new, cut_for_new);
}

HALO_EXPORT void* operator new(std::size_t size) {
  const std::uint64_t word = caller_word_at(caller_hash(*own_slot()));
  if (word != 0) [[unlikely]]
    return halo_serve_new(size, word);
  return new_of_others(size);
}

// A jump, by way of the PLT: the caller stays the caller, and a replaced operator new is found.
HALO_EXPORT void* operator new[](std::size_t size) { return ::operator new(size); }

HALO_EXPORT void* operator new(std::size_t size, const std::nothrow_t& tag) noexcept {
  if (!new_is_ours()) return refused_new("_ZnwmRKSt9nothrow_t", size, &tag);
  if (planned(__builtin_return_address(0))) [[unlikely]]
    return halo_enter_new_nothrow(size, &tag);
  if (void* p = fallback.malloc(size == 0 ? 1 : size)) [[likely]]
    return p;
  return refused_new("_ZnwmRKSt9nothrow_t", size, &tag);
}

HALO_EXPORT void* operator new[](std::size_t size, const std::nothrow_t& tag) noexcept {
  return ::operator new(size, tag);
}

HALO_EXPORT void* operator new(std::size_t size, std::align_val_t alignment) {
  if (void* p = allocate_aligned(size, alignment)) return p;
  return refused_new("_ZnwmSt11align_val_t", size, alignment);
}

HALO_EXPORT void* operator new[](std::size_t size, std::align_val_t alignment) {
  return ::operator new(size, alignment);
}

HALO_EXPORT void* operator new(std::size_t size, std::align_val_t alignment,
                               const std::nothrow_t& tag) noexcept {
  if (aligned_new_is_ours())
    if (void* p = allocate_aligned(size, alignment)) return p;
  return refused_new("_ZnwmSt11align_val_tRKSt9nothrow_t", size, alignment, &tag);
}

HALO_EXPORT void* operator new[](std::size_t size, std::align_val_t alignment,
                                 const std::nothrow_t& tag) noexcept {
  return ::operator new(size, alignment, tag);
}

// Not through the public free: a program may bring a malloc of its own that knows nothing of `new`.
HALO_EXPORT void operator delete(void* p) noexcept { release(p); }
HALO_EXPORT void operator delete[](void* p) noexcept { ::operator delete(p); }
HALO_EXPORT void operator delete(void* p, std::size_t) noexcept { ::operator delete(p); }
HALO_EXPORT void operator delete[](void* p, std::size_t) noexcept { ::operator delete[](p); }
HALO_EXPORT void operator delete(void* p, const std::nothrow_t&) noexcept { ::operator delete(p); }
HALO_EXPORT void operator delete[](void* p, const std::nothrow_t&) noexcept {
  ::operator delete[](p);
}

HALO_EXPORT void operator delete(void* p, std::align_val_t) noexcept { release(p); }
HALO_EXPORT void operator delete[](void* p, std::align_val_t alignment) noexcept {
  ::operator delete(p, alignment);
}
HALO_EXPORT void operator delete(void* p, std::size_t, std::align_val_t alignment) noexcept {
  ::operator delete(p, alignment);
}
HALO_EXPORT void operator delete[](void* p, std::size_t, std::align_val_t alignment) noexcept {
  ::operator delete[](p, alignment);
}
HALO_EXPORT void operator delete(void* p, std::align_val_t alignment,
                                 const std::nothrow_t&) noexcept {
  ::operator delete(p, alignment);
}
HALO_EXPORT void operator delete[](void* p, std::align_val_t alignment,
                                   const std::nothrow_t&) noexcept {
  ::operator delete[](p, alignment);
}
