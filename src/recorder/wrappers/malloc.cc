// The C allocation functions: forward to the next allocator and report.
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "recorder/wrappers/next_allocator.h"
#include "recorder/wrappers/wrapper.h"

using namespace halo;
using namespace halo::interpose;

namespace {

void* fail(int error = ENOMEM) {
  errno = error;
  return nullptr;
}

void* reallocate(void* old, size_t size, uint64_t slot) {
  const NextFunctions* next = next_allocator();
  if (next == nullptr || (old != nullptr && bootstrap_contains(old))) {
    void* fresh = next != nullptr ? next->malloc(size) : bootstrap_allocate(size);
    if (old != nullptr) move_from_bootstrap(fresh, size, old);
    if (next != nullptr) report_alloc(fresh, size, slot);
    return fresh;
  }
  report_free(old);
  void* fresh = next->realloc(old, size);
  if (fresh == nullptr && size != 0) {
    report_revive(old);
  } else if (old != nullptr) {
    report_reallocated(fresh, size, slot);
  } else {
    report_alloc(fresh, size, slot);
  }
  return fresh;
}

}  // namespace

HALO_EXPORT void* malloc(size_t size) noexcept {
  const NextFunctions* next = next_allocator();
  if (next == nullptr) return bootstrap_allocate(size);
  void* address = next->malloc(size);
  report_alloc(address, size, HALO_RETURN_SLOT);
  return address;
}

HALO_EXPORT void* calloc(size_t count, size_t size) noexcept {
  const NextFunctions* next = next_allocator();
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) return fail();
  if (next == nullptr) return bootstrap_allocate(bytes);
  void* address = next->calloc(count, size);
  report_alloc(address, bytes, HALO_RETURN_SLOT);
  return address;
}

HALO_EXPORT void* realloc(void* old, size_t size) noexcept {
  return reallocate(old, size, HALO_RETURN_SLOT);
}

HALO_EXPORT void* reallocarray(void* old, size_t count, size_t size) noexcept {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) return fail();
  return reallocate(old, bytes, HALO_RETURN_SLOT);
}

HALO_EXPORT void free(void* address) noexcept {
  if (address != nullptr) free_next(address);
}
// C23.
HALO_EXPORT void free_sized(void* address, size_t) noexcept {
  if (address != nullptr) free_next(address);
}
HALO_EXPORT void free_aligned_sized(void* address, size_t, size_t) noexcept {
  if (address != nullptr) free_next(address);
}

HALO_EXPORT void* memalign(size_t alignment, size_t size) noexcept {
  void* address = take_aligned(alignment, size);
  report_aligned(address, size, HALO_RETURN_SLOT);
  return address;
}

HALO_EXPORT void* aligned_alloc(size_t alignment, size_t size) noexcept {
  const NextFunctions* next = next_allocator();
  if (next == nullptr) return bootstrap_allocate(size, alignment);
  void* address = next->aligned_alloc ? next->aligned_alloc(alignment, size) : fail();
  report_aligned(address, size, HALO_RETURN_SLOT);
  return address;
}

HALO_EXPORT int posix_memalign(void** result, size_t alignment, size_t size) noexcept {
  const NextFunctions* next = next_allocator();
  if (next == nullptr || next->posix_memalign == nullptr) return ENOMEM;
  const int error = next->posix_memalign(result, alignment, size);
  if (error == 0) report_aligned(*result, size, HALO_RETURN_SLOT);
  return error;
}

HALO_EXPORT void* valloc(size_t size) noexcept {
  const NextFunctions* next = next_allocator();
  void* address = next != nullptr && next->valloc ? next->valloc(size) : fail();
  report_aligned(address, size, HALO_RETURN_SLOT);
  return address;
}

HALO_EXPORT void* pvalloc(size_t size) noexcept {
  const NextFunctions* next = next_allocator();
  void* address = next != nullptr && next->pvalloc ? next->pvalloc(size) : fail();
  report_aligned(address, size, HALO_RETURN_SLOT);
  return address;
}
