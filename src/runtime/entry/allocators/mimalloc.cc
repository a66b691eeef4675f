// mimalloc's own functions, of versions 1.6 to 3. The ones that only allocate stay as they are:
// their blocks are mimalloc's.
#include <errno.h>

#include <cstddef>
#include <cstdint>

#include "runtime/entry/allocators/allocators.h"
#include "runtime/entry/allocators/statistics.h"
#include "runtime/serve/served_blocks.h"

namespace halo::runtime {
namespace {

// A heap of mimalloc.
struct Heap;

// The first ones return nothing in most versions.
// clang-format off
#define HALO_MIMALLOC(X) \
  X(mi_free, size_t, void* p) \
  X(mi_cfree, size_t, void* p) \
  X(mi_free_small, size_t, void* p) \
  X(mi_free_small_nonnull, size_t, void* p) \
  X(mi_free_size, size_t, void* p, size_t size) \
  X(mi_free_aligned, size_t, void* p, size_t alignment) \
  X(mi_free_size_aligned, size_t, void* p, size_t size, size_t alignment) \
  X(mi_ufree, void, void* p, size_t* freed) \
  X(vfree, void, void* p) \
  X(__libc_cfree, void, void* p) \
  X(mi_usable_size, size_t, const void* p) \
  X(mi_malloc_size, size_t, const void* p) \
  X(mi_malloc_usable_size, size_t, const void* p) \
  X(malloc_size, size_t, const void* p) \
  X(mi_check_owned, bool, const void* p) \
  X(mi_is_in_heap_region, bool, const void* p) \
  X(mi_any_heap_contains, bool, const void* p) \
  X(mi_heap_check_owned, bool, Heap* heap, const void* p) \
  X(mi_heap_contains_block, bool, Heap* heap, const void* p) \
  X(mi_heap_contains, bool, Heap* heap, const void* p) \
  X(mi_heap_of, Heap*, const void* p) \
  X(mi_unsafe_heap_page_is_under_utilized, bool, Heap* heap, void* p, size_t percent) \
  X(mi_expand, void*, void* p, size_t size) \
  X(mi__expand, void*, void* p, size_t size) \
  X(mi_realloc, void*, void* p, size_t size) \
  X(mi_reallocf, void*, void* p, size_t size) \
  X(reallocf, void*, void* p, size_t size) \
  X(mi_new_realloc, void*, void* p, size_t size) \
  X(mi_urealloc, void*, void* p, size_t size, size_t* before, size_t* after) \
  X(mi_reallocn, void*, void* p, size_t count, size_t size) \
  X(mi_reallocarray, void*, void* p, size_t count, size_t size) \
  X(mi_new_reallocn, void*, void* p, size_t count, size_t size) \
  X(mi_reallocarr, int, void* at, size_t count, size_t size) \
  X(reallocarr, int, void* at, size_t count, size_t size) \
  X(mi_realloc_aligned, void*, void* p, size_t size, size_t to) \
  X(mi_realloc_aligned_at, void*, void* p, size_t size, size_t to, size_t offset) \
  X(mi_rezalloc, void*, void* p, size_t size) \
  X(mi_rezalloc_aligned, void*, void* p, size_t size, size_t to) \
  X(mi_rezalloc_aligned_at, void*, void* p, size_t size, size_t to, size_t offset) \
  X(mi_recalloc, void*, void* p, size_t count, size_t size) \
  X(mi_recalloc_aligned, void*, void* p, size_t count, size_t size, size_t to) \
  X(mi_aligned_recalloc, void*, void* p, size_t count, size_t size, size_t to) \
  X(mi_recalloc_aligned_at, void*, void* p, size_t count, size_t size, size_t to, \
    size_t offset) \
  X(mi_aligned_offset_recalloc, void*, void* p, size_t count, size_t size, \
    size_t to, size_t offset) \
  X(mi_heap_realloc, void*, Heap* heap, void* p, size_t size) \
  X(mi_theap_realloc, void*, Heap* heap, void* p, size_t size) \
  X(mi_heap_reallocf, void*, Heap* heap, void* p, size_t size) \
  X(mi_heap_reallocn, void*, Heap* heap, void* p, size_t count, size_t size) \
  X(mi_heap_realloc_aligned, void*, Heap* heap, void* p, size_t size, size_t to) \
  X(mi_heap_realloc_aligned_at, void*, Heap* heap, void* p, size_t size, size_t to, \
    size_t offset) \
  X(mi_heap_rezalloc, void*, Heap* heap, void* p, size_t size) \
  X(mi_heap_rezalloc_aligned, void*, Heap* heap, void* p, size_t size, size_t to) \
  X(mi_heap_rezalloc_aligned_at, void*, Heap* heap, void* p, size_t size, size_t to, \
    size_t offset) \
  X(mi_heap_recalloc, void*, Heap* heap, void* p, size_t count, size_t size) \
  X(mi_heap_recalloc_aligned, void*, Heap* heap, void* p, size_t count, size_t size, \
    size_t to) \
  X(mi_heap_recalloc_aligned_at, void*, Heap* heap, void* p, size_t count, size_t size, \
    size_t to, size_t offset)
#define HALO_MIMALLOC_CALLED(X) \
  X(mi_heap_get_default, Heap*) \
  X(mi_heap_main, Heap*)
// clang-format on

namespace native {
HALO_MIMALLOC(HALO_NATIVE)
HALO_MIMALLOC_CALLED(HALO_NATIVE)
}  // namespace native

// Its size in bytes.
size_t release_served(void* p) {
  const size_t size = usable_size(p);
  release(p);
  return size;
}

// Blocks of the runtime count as part of the asking thread's default heap.
Heap* heap_of_served() {
  if (native::mi_heap_get_default != nullptr) return native::mi_heap_get_default();
  return native::mi_heap_main != nullptr ? native::mi_heap_main() : nullptr;
}

// What a reallocation asks for: `offset` bytes behind the start there is a multiple of `alignment`.
struct Wanted {
  size_t size;
  size_t alignment = 1;
  size_t offset = 0;
};

// A size that no allocator has, if the product overflows.
size_t product(size_t count, size_t size) {
  size_t bytes;
  return __builtin_mul_overflow(count, size, &bytes) ? SIZE_MAX : bytes;
}

// `reallocate` is the native function with all arguments except the block. Of null, it makes a new
// block as it does whenever a block moves: in its heap, aligned, zeroed, or by the new handler.
template <typename Reallocate>
void* resize(void* p, const Wanted& wanted, Reallocate reallocate) {
  if (!is_served(p)) return reallocate(p);
  const bool is_suitable = wanted.offset == 0 || wanted.alignment <= 1;
  if (is_suitable && served_stays(p, wanted.size, wanted.alignment)) return p;
  return move_served(p, reallocate(nullptr), wanted.size);
}

template <typename Reallocate>
void* resize_or_free(void* p, size_t size, Reallocate reallocate) {
  void* const moved = resize(p, {size}, reallocate);
  if (moved == nullptr && is_served(p)) release(p);
  return moved;
}

template <typename Reallocate>
int resize_at(void* at, size_t count, size_t size, Reallocate reallocate) {
  void*& p = *static_cast<void**>(at);
  if (!is_served(p)) return reallocate(at);
  void* moved = nullptr;
  int error = 0;
  void* const result = resize(p, {product(count, size)}, [&](void*) {
    error = reallocate(&moved);
    return moved;
  });
  if (result != nullptr) p = result;
  return error;
}

void* expand(void* p, size_t size) { return size <= usable_size(p) ? p : nullptr; }

namespace ours {

HALO_MIMALLOC(HALO_OURS)

// One macro for each shape, whose last arguments are those of the native function. Where that
// resizes, `from` is its block.
#define HALO_UNLESS_SERVED(name, ...) \
  if (!is_served(p)) return native::name(__VA_ARGS__)
#define HALO_FREE(name, parameters, ...)   \
  size_t name parameters {                 \
    HALO_UNLESS_SERVED(name, __VA_ARGS__); \
    return release_served(p);              \
  }
#define HALO_FREE_ONLY(name)     \
  void name(void* p) {           \
    HALO_UNLESS_SERVED(name, p); \
    release(p);                  \
  }
#define HALO_USABLE_SIZE(name)   \
  size_t name(const void* p) {   \
    HALO_UNLESS_SERVED(name, p); \
    return usable_size(p);       \
  }
#define HALO_OWNED(name) \
  bool name(const void* p) { return is_served(p) || native::name(p); }
#define HALO_IN_HEAP(name)               \
  bool name(Heap* heap, const void* p) { \
    HALO_UNLESS_SERVED(name, heap, p);   \
    return heap == heap_of_served();     \
  }
#define HALO_NATIVE_OF(name, ...) [=](void* from) { return native::name(__VA_ARGS__); }
#define HALO_RESIZE(name, ...) HALO_RESIZE_AS(name, __VA_ARGS__)
#define HALO_RESIZE_AS(name, parameters, wanted, ...) \
  void* name parameters { return resize(p, Wanted wanted, HALO_NATIVE_OF(name, __VA_ARGS__)); }
#define HALO_RESIZE_OR_FREE(name, parameters, ...) \
  void* name parameters { return resize_or_free(p, size, HALO_NATIVE_OF(name, __VA_ARGS__)); }
// What resizes: its parameters, what it asks for, and the native function's arguments.
#define HALO_SIZE (void* p, size_t size), (size), from, size
#define HALO_SIZE_ALIGNED (void* p, size_t size, size_t to), (size, to), from, size, to
#define HALO_SIZE_AT_OFFSET \
  (void* p, size_t size, size_t to, size_t offset), (size, to, offset), from, size, to, offset
#define HALO_COUNT (void* p, size_t count, size_t size), (product(count, size)), from, count, size
#define HALO_COUNT_ALIGNED \
  (void* p, size_t count, size_t size, size_t to), (product(count, size), to), from, count, size, to
#define HALO_COUNT_AT_OFFSET                                      \
  (void* p, size_t count, size_t size, size_t to, size_t offset), \
      (product(count, size), to, offset), from, count, size, to, offset
#define HALO_HEAP_SIZE (Heap * heap, void* p, size_t size), (size), heap, from, size
#define HALO_HEAP_SIZE_ALIGNED \
  (Heap * heap, void* p, size_t size, size_t to), (size, to), heap, from, size, to
#define HALO_HEAP_SIZE_AT_OFFSET                                                                 \
  (Heap * heap, void* p, size_t size, size_t to, size_t offset), (size, to, offset), heap, from, \
      size, to, offset
#define HALO_HEAP_COUNT \
  (Heap * heap, void* p, size_t count, size_t size), (product(count, size)), heap, from, count, size
#define HALO_HEAP_COUNT_ALIGNED                                                                   \
  (Heap * heap, void* p, size_t count, size_t size, size_t to), (product(count, size), to), heap, \
      from, count, size, to
#define HALO_HEAP_COUNT_AT_OFFSET                                              \
  (Heap * heap, void* p, size_t count, size_t size, size_t to, size_t offset), \
      (product(count, size), to, offset), heap, from, count, size, to, offset
#define HALO_RESIZE_AT(name)                                                    \
  int name(void* at, size_t count, size_t size) {                               \
    return resize_at(at, count, size, HALO_NATIVE_OF(name, from, count, size)); \
  }

HALO_FREE(mi_free, (void* p), p)
HALO_FREE(mi_cfree, (void* p), p)
HALO_FREE(mi_free_small, (void* p), p)
HALO_FREE(mi_free_small_nonnull, (void* p), p)
HALO_FREE(mi_free_size, (void* p, size_t size), p, size)
HALO_FREE(mi_free_aligned, (void* p, size_t alignment), p, alignment)
HALO_FREE(mi_free_size_aligned, (void* p, size_t size, size_t alignment), p, size, alignment)

void mi_ufree(void* p, size_t* freed) {
  HALO_UNLESS_SERVED(mi_ufree, p, freed);
  const size_t size = release_served(p);
  if (freed != nullptr) *freed = size;
}

HALO_FREE_ONLY(vfree)
HALO_FREE_ONLY(__libc_cfree)
HALO_USABLE_SIZE(mi_usable_size)
HALO_USABLE_SIZE(mi_malloc_size)
HALO_USABLE_SIZE(mi_malloc_usable_size)
HALO_USABLE_SIZE(malloc_size)
HALO_OWNED(mi_check_owned)
HALO_OWNED(mi_is_in_heap_region)
HALO_OWNED(mi_any_heap_contains)
HALO_IN_HEAP(mi_heap_check_owned)
HALO_IN_HEAP(mi_heap_contains_block)
HALO_IN_HEAP(mi_heap_contains)

Heap* mi_heap_of(const void* p) {
  HALO_UNLESS_SERVED(mi_heap_of, p);
  return heap_of_served();
}

bool mi_unsafe_heap_page_is_under_utilized(Heap* heap, void* p, size_t percent) {
  HALO_UNLESS_SERVED(mi_unsafe_heap_page_is_under_utilized, heap, p, percent);
  return false;
}

void* mi_expand(void* p, size_t size) {
  HALO_UNLESS_SERVED(mi_expand, p, size);
  return expand(p, size);
}

void* mi__expand(void* p, size_t size) {
  HALO_UNLESS_SERVED(mi__expand, p, size);
  void* const expanded = expand(p, size);
  if (expanded == nullptr) errno = ENOMEM;
  return expanded;
}

HALO_RESIZE(mi_realloc, HALO_SIZE)
HALO_RESIZE_OR_FREE(mi_reallocf, (void* p, size_t size), from, size)
HALO_RESIZE_OR_FREE(reallocf, (void* p, size_t size), from, size)
HALO_RESIZE(mi_new_realloc, HALO_SIZE)

void* mi_urealloc(void* p, size_t size, size_t* before, size_t* after) {
  HALO_UNLESS_SERVED(mi_urealloc, p, size, before, after);
  const size_t old = usable_size(p);
  size_t of_none;
  size_t* const unused = &of_none;
  void* const moved = resize(p, {size}, HALO_NATIVE_OF(mi_urealloc, from, size, unused, after));
  if (before != nullptr) *before = old;
  if (after != nullptr && moved == p) *after = old;
  return moved;
}

HALO_RESIZE(mi_reallocn, HALO_COUNT)
HALO_RESIZE(mi_reallocarray, HALO_COUNT)
HALO_RESIZE(mi_new_reallocn, HALO_COUNT)
HALO_RESIZE_AT(mi_reallocarr)
HALO_RESIZE_AT(reallocarr)
HALO_RESIZE(mi_realloc_aligned, HALO_SIZE_ALIGNED)
HALO_RESIZE(mi_realloc_aligned_at, HALO_SIZE_AT_OFFSET)
HALO_RESIZE(mi_rezalloc, HALO_SIZE)
HALO_RESIZE(mi_rezalloc_aligned, HALO_SIZE_ALIGNED)
HALO_RESIZE(mi_rezalloc_aligned_at, HALO_SIZE_AT_OFFSET)
HALO_RESIZE(mi_recalloc, HALO_COUNT)
HALO_RESIZE(mi_recalloc_aligned, HALO_COUNT_ALIGNED)
HALO_RESIZE(mi_aligned_recalloc, HALO_COUNT_ALIGNED)
HALO_RESIZE(mi_recalloc_aligned_at, HALO_COUNT_AT_OFFSET)
HALO_RESIZE(mi_aligned_offset_recalloc, HALO_COUNT_AT_OFFSET)
HALO_RESIZE(mi_heap_realloc, HALO_HEAP_SIZE)
HALO_RESIZE(mi_theap_realloc, HALO_HEAP_SIZE)
HALO_RESIZE_OR_FREE(mi_heap_reallocf, (Heap * heap, void* p, size_t size), heap, from, size)
HALO_RESIZE(mi_heap_reallocn, HALO_HEAP_COUNT)
HALO_RESIZE(mi_heap_realloc_aligned, HALO_HEAP_SIZE_ALIGNED)
HALO_RESIZE(mi_heap_realloc_aligned_at, HALO_HEAP_SIZE_AT_OFFSET)
HALO_RESIZE(mi_heap_rezalloc, HALO_HEAP_SIZE)
HALO_RESIZE(mi_heap_rezalloc_aligned, HALO_HEAP_SIZE_ALIGNED)
HALO_RESIZE(mi_heap_rezalloc_aligned_at, HALO_HEAP_SIZE_AT_OFFSET)
HALO_RESIZE(mi_heap_recalloc, HALO_HEAP_COUNT)
HALO_RESIZE(mi_heap_recalloc_aligned, HALO_HEAP_COUNT_ALIGNED)
HALO_RESIZE(mi_heap_recalloc_aligned_at, HALO_HEAP_COUNT_AT_OFFSET)

}  // namespace ours

const InterfaceFunction kFunctions[] = {HALO_MIMALLOC(HALO_ROW) HALO_MIMALLOC_CALLED(
    HALO_CALLED_ROW) HALO_MIMALLOC_STATISTICS(HALO_STATISTICS_ROW)};

// mi_rezalloc and the like find what lies behind the size of a calloc zeroed, too.
bool clear_whole_blocks(const LoadedModule&) { return clearing_whole_blocks = true; }

}  // namespace

const AllocatorInterface kMimallocInterface{"mi_version", kFunctions, clear_whole_blocks};

}  // namespace halo::runtime
