// What libhalo-tidy.so exports of malloc's functions, so that its memory may be freed by them. It
// allocates nothing else: all other memory is the next library's.
#include <errno.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "base/next_functions.h"
#include "tidy/fallback.h"
#include "tidy/include/halo/tidy.h"
#include "tidy/page_memory.h"

#define EXPORTED __attribute__((visibility("default")))

namespace {

using halo::tidy::page_memory;

struct Next {
  halo::NextFunctions functions;
  size_t (*usable_size)(void*);
};

// Looked up on first use. The lookup may allocate and free: the next library's malloc serves it,
// and what it frees meanwhile is lost.
Next next;
std::atomic<bool> is_looked_up{false};
std::atomic<bool> is_looking_up{false};

const Next* look_up() {
  if (is_looked_up.load(std::memory_order_acquire)) return &next;
  if (is_looking_up.exchange(true, std::memory_order_acquire)) return nullptr;
  halo::look_up_next(next.functions);
  halo::look_up_next(next.usable_size, "malloc_usable_size");
  is_looked_up.store(true, std::memory_order_release);
  is_looking_up.store(false, std::memory_order_release);
  return &next;
}

__attribute__((constructor)) void look_up_early() { look_up(); }

}  // namespace

namespace halo::tidy::fallback {

// All by the next library, so that each block returns to where it came from: a program may have a
// malloc of its own, in front of this library.
void* allocate(size_t size) {
  const Next* const found = look_up();
  return found == nullptr ? nullptr : found->functions.malloc(size);
}
void* allocate_zeroed(size_t count, size_t size) {
  const Next* const found = look_up();
  return found == nullptr ? nullptr : found->functions.calloc(count, size);
}
void* allocate_aligned(size_t alignment, size_t size) {
  const Next* const found = look_up();
  return found == nullptr ? nullptr : found->functions.memalign(alignment, size);
}
void* reallocate(void* p, size_t size) {
  const Next* const found = look_up();
  return found == nullptr ? nullptr : found->functions.realloc(p, size);
}
void free(void* p) {
  if (const Next* const found = look_up()) found->functions.free(p);
}
size_t usable_size(void* p) {
  const Next* const found = look_up();
  return found == nullptr ? 0 : found->usable_size(p);
}

}  // namespace halo::tidy::fallback

extern "C" {

EXPORTED void free(void* p) {
  if (page_memory.contains(p)) return tidy_free(p);
  halo::tidy::fallback::free(p);
}

// A block of Tidy becomes one of the next library's, since the context is not known here.
EXPORTED void* realloc(void* p, size_t size) {
  if (!page_memory.contains(p)) return halo::tidy::fallback::reallocate(p, size);
  if (size == 0) {
    tidy_free(p);
    return nullptr;
  }
  const size_t old = tidy_usable_size(p);
  constexpr size_t kAlignment = 16;  // malloc's
  if (size <= old && size > old / 2 && reinterpret_cast<uintptr_t>(p) % kAlignment == 0) return p;
  void* const moved = halo::tidy::fallback::allocate(size);
  if (moved == nullptr) return size <= old ? p : nullptr;
  std::memcpy(moved, p, std::min(old, size));
  tidy_free(p);
  return moved;
}

EXPORTED void* reallocarray(void* p, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return realloc(p, bytes);
}

EXPORTED size_t malloc_usable_size(void* p) { return tidy_usable_size(p); }

}  // extern "C"

// NOLINTBEGIN(misc-new-delete-overloads): new stays the next library's.
EXPORTED void operator delete(void* p) noexcept { free(p); }
EXPORTED void operator delete[](void* p) noexcept { free(p); }
EXPORTED void operator delete(void* p, size_t) noexcept { free(p); }
EXPORTED void operator delete[](void* p, size_t) noexcept { free(p); }
EXPORTED void operator delete(void* p, const std::nothrow_t&) noexcept { free(p); }
EXPORTED void operator delete[](void* p, const std::nothrow_t&) noexcept { free(p); }
EXPORTED void operator delete(void* p, std::align_val_t) noexcept { free(p); }
EXPORTED void operator delete[](void* p, std::align_val_t) noexcept { free(p); }
EXPORTED void operator delete(void* p, size_t, std::align_val_t) noexcept { free(p); }
EXPORTED void operator delete[](void* p, size_t, std::align_val_t) noexcept { free(p); }
EXPORTED void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept {
  free(p);
}
EXPORTED void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept {
  free(p);
}
// NOLINTEND(misc-new-delete-overloads)
