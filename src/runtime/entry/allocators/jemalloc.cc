// jemalloc's own functions. The ones that only allocate stay as they are: their blocks are
// jemalloc's.
#include <cstddef>

#include "runtime/entry/allocators/allocators.h"
#include "runtime/entry/allocators/statistics.h"
#include "runtime/serve/served_blocks.h"

namespace halo::runtime {
namespace {

// clang-format off
#define HALO_JEMALLOC(X) \
  X(dallocx, void, void* p, int flags) \
  X(rallocx, void*, void* p, size_t size, int flags) \
  X(sallocx, size_t, const void* p, int flags) \
  X(sdallocx, void, void* p, size_t size, int flags) \
  X(xallocx, size_t, void* p, size_t size, size_t extra, int flags)
#define HALO_JEMALLOC_CALLED(X) \
  X(mallocx, void*, size_t size, int flags)
// clang-format on

namespace native {
HALO_JEMALLOC(HALO_NATIVE)
HALO_JEMALLOC_CALLED(HALO_NATIVE)
}  // namespace native

namespace ours {

HALO_JEMALLOC(HALO_OURS)

// MALLOCX_LG_ALIGN: the low six bits; 0 if no alignment is wanted.
size_t alignment_of(int flags) { return size_t{1} << (flags & 63); }

void dallocx(void* p, int flags) {
  if (!is_served(p)) return native::dallocx(p, flags);
  release(p);
}

void sdallocx(void* p, size_t size, int flags) {
  if (!is_served(p)) return native::sdallocx(p, size, flags);
  release(p);
}

size_t sallocx(const void* p, int flags) {
  if (!is_served(p)) return native::sallocx(p, flags);
  return usable_size(p);
}

// In place, a block never grows behind its real size, which is also where MALLOCX_ZERO begins.
size_t xallocx(void* p, size_t size, size_t extra, int flags) {
  if (!is_served(p)) return native::xallocx(p, size, extra, flags);
  return usable_size(p);
}

void* rallocx(void* p, size_t size, int flags) {
  if (!is_served(p)) return native::rallocx(p, size, flags);
  if (served_stays(p, size, alignment_of(flags))) return p;
  return move_served(p, native::mallocx(size == 0 ? 1 : size, flags), size);
}

}  // namespace ours

const InterfaceFunction kFunctions[] = {HALO_JEMALLOC(HALO_ROW) HALO_JEMALLOC_CALLED(
    HALO_CALLED_ROW) HALO_JEMALLOC_STATISTICS(HALO_STATISTICS_ROW) HALO_JEMALLOC_STATISTICS_CALLED};

}  // namespace

const AllocatorInterface kJemallocInterface{"mallocx", kFunctions};

}  // namespace halo::runtime
