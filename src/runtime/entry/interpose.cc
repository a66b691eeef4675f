// The exported allocation functions: each checks whether the caller is in the plan, and forwards if
// not. The first instructions of malloc and free are in forwarding.cc.
#include <errno.h>

#include <cstddef>
#include <cstdint>

#include "runtime/base/exports.h"
#include "runtime/base/next.h"
#include "runtime/pages/arena.h"
#include "runtime/serve/grouped.h"

using halo::plan::kMaxObjectLimit;
using halo::runtime::arena;
using halo::runtime::CallerCode;
using halo::runtime::fallback;
using halo::runtime::free_grouped;
using halo::runtime::free_in_page;
using halo::runtime::is_fast_size;
using halo::runtime::kMaxDirect;
using halo::runtime::next;
using halo::runtime::next_block;
using halo::runtime::planned;
using halo::runtime::release;
using halo::runtime::serve_decided;

// The compiler turns `return f(…)` into a jump in all of these. The trampolines rely on that: they
// find the program's return address on top of the stack, which a test checks.
extern "C" {

HALO_EXPORTED_FUNCTIONS(HALO_DECLARE)

// The parts of malloc and free that are not forwarded directly. forwarding.cc enters them by a
// jump, as parts of the exported functions.
__attribute__((noinline)) static void* next_for_malloc(size_t size, CallerCode code) {
  if (void* p = next_block(code, size)) [[likely]]
    return p;
  return halo_enter_malloc(size);
}

__attribute__((noinline)) static void* serve_larger(size_t size, uint64_t word) {
  if (!is_fast_size<kMaxObjectLimit>(size)) return halo_enter_malloc(size);
  return serve_decided<kMaxObjectLimit>(size, word, halo_enter_malloc, next_for_malloc);
}

__attribute__((used)) void* halo_serve_malloc(size_t size, uint64_t word) {
  if (!is_fast_size<kMaxDirect>(size)) [[unlikely]]
    return serve_larger(size, word);
  return serve_decided<kMaxDirect>(size, word, halo_enter_malloc, next_for_malloc);
}

__attribute__((used)) void halo_release(void* p, uintptr_t page) {
  free_in_page(arena.page_at(page), p, free_grouped);
}

void* calloc(size_t count, size_t size) {
  if (planned(__builtin_return_address(0))) [[unlikely]]
    return halo_enter_calloc(count, size);
  return fallback.calloc(count, size);
}

void* realloc(void* p, size_t size) {
  if (planned(__builtin_return_address(0)) || arena.contains(p)) [[unlikely]]
    return halo_enter_realloc(p, size);
  return next.realloc(p, size);
}

void* reallocarray(void* p, size_t count, size_t size) noexcept {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  if (planned(__builtin_return_address(0)) || arena.contains(p)) [[unlikely]]
    return halo_enter_realloc(p, bytes);
  return next.realloc(p, bytes);
}

void cfree(void* p) { release(p); }

void free_sized(void* p, size_t) { release(p); }

void free_aligned_sized(void* p, size_t, size_t) { release(p); }

void __libc_free(void* p) {
  if (arena.contains(p)) return free_grouped(p);
  next.libc_free(p);
}

void* __libc_realloc(void* p, size_t size) {
  if (arena.contains(p)) return halo_enter_realloc(p, size);
  return next.libc_realloc(p, size);
}

size_t malloc_usable_size(void* p) { return halo::runtime::usable_size(p); }

void* memalign(size_t alignment, size_t size) { return next.memalign(alignment, size); }

void* aligned_alloc(size_t alignment, size_t size) { return next.aligned_alloc(alignment, size); }

int posix_memalign(void** into, size_t alignment, size_t size) noexcept {
  return next.posix_memalign(into, alignment, size);
}

void* valloc(size_t size) noexcept {
  return next.valloc != nullptr ? next.valloc(size) : next.memalign(4096, size);
}

void* pvalloc(size_t size) {
  if (next.pvalloc != nullptr) return next.pvalloc(size);
  const size_t rounded = (size + 4095) & ~size_t{4095};
  return next.memalign(4096, rounded < size ? size : rounded);
}

}  // extern "C"
