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
  X(mi_free, std::size_t, void* p) \
  X(mi_cfree, std::size_t, void* p) \
  X(mi_free_small, std::size_t, void* p) \
  X(mi_free_small_nonnull, std::size_t, void* p) \
  X(mi_free_size, std::size_t, void* p, std::size_t size) \
  X(mi_free_aligned, std::size_t, void* p, std::size_t alignment) \
  X(mi_free_size_aligned, std::size_t, void* p, std::size_t size, std::size_t alignment) \
  X(mi_ufree, void, void* p, std::size_t* freed) \
  X(vfree, void, void* p) \
  X(__libc_cfree, void, void* p) \
  X(mi_usable_size, std::size_t, const void* p) \
  X(mi_malloc_size, std::size_t, const void* p) \
  X(mi_malloc_usable_size, std::size_t, const void* p) \
  X(malloc_size, std::size_t, const void* p) \
  X(mi_check_owned, bool, const void* p) \
  X(mi_is_in_heap_region, bool, const void* p) \
  X(mi_any_heap_contains, bool, const void* p) \
  X(mi_heap_check_owned, bool, Heap* heap, const void* p) \
  X(mi_heap_contains_block, bool, Heap* heap, const void* p) \
  X(mi_heap_contains, bool, Heap* heap, const void* p) \
  X(mi_heap_of, Heap*, const void* p) \
  X(mi_unsafe_heap_page_is_under_utilized, bool, Heap* heap, void* p, std::size_t percent) \
  X(mi_expand, void*, void* p, std::size_t size) \
  X(mi__expand, void*, void* p, std::size_t size) \
  X(mi_realloc, void*, void* p, std::size_t size) \
  X(mi_reallocf, void*, void* p, std::size_t size) \
  X(reallocf, void*, void* p, std::size_t size) \
  X(mi_new_realloc, void*, void* p, std::size_t size) \
  X(mi_urealloc, void*, void* p, std::size_t size, std::size_t* before, std::size_t* after) \
  X(mi_reallocn, void*, void* p, std::size_t count, std::size_t size) \
  X(mi_reallocarray, void*, void* p, std::size_t count, std::size_t size) \
  X(mi_new_reallocn, void*, void* p, std::size_t count, std::size_t size) \
  X(mi_reallocarr, int, void* at, std::size_t count, std::size_t size) \
  X(reallocarr, int, void* at, std::size_t count, std::size_t size) \
  X(mi_realloc_aligned, void*, void* p, std::size_t size, std::size_t to) \
  X(mi_realloc_aligned_at, void*, void* p, std::size_t size, std::size_t to, std::size_t offset) \
  X(mi_rezalloc, void*, void* p, std::size_t size) \
  X(mi_rezalloc_aligned, void*, void* p, std::size_t size, std::size_t to) \
  X(mi_rezalloc_aligned_at, void*, void* p, std::size_t size, std::size_t to, std::size_t offset) \
  X(mi_recalloc, void*, void* p, std::size_t count, std::size_t size) \
  X(mi_recalloc_aligned, void*, void* p, std::size_t count, std::size_t size, std::size_t to) \
  X(mi_aligned_recalloc, void*, void* p, std::size_t count, std::size_t size, std::size_t to) \
  X(mi_recalloc_aligned_at, void*, void* p, std::size_t count, std::size_t size, std::size_t to, \
    std::size_t offset) \
  X(mi_aligned_offset_recalloc, void*, void* p, std::size_t count, std::size_t size, \
    std::size_t to, std::size_t offset) \
  X(mi_heap_realloc, void*, Heap* heap, void* p, std::size_t size) \
  X(mi_theap_realloc, void*, Heap* heap, void* p, std::size_t size) \
  X(mi_heap_reallocf, void*, Heap* heap, void* p, std::size_t size) \
  X(mi_heap_reallocn, void*, Heap* heap, void* p, std::size_t count, std::size_t size) \
  X(mi_heap_realloc_aligned, void*, Heap* heap, void* p, std::size_t size, std::size_t to) \
  X(mi_heap_realloc_aligned_at, void*, Heap* heap, void* p, std::size_t size, std::size_t to, \
    std::size_t offset) \
  X(mi_heap_rezalloc, void*, Heap* heap, void* p, std::size_t size) \
  X(mi_heap_rezalloc_aligned, void*, Heap* heap, void* p, std::size_t size, std::size_t to) \
  X(mi_heap_rezalloc_aligned_at, void*, Heap* heap, void* p, std::size_t size, std::size_t to, \
    std::size_t offset) \
  X(mi_heap_recalloc, void*, Heap* heap, void* p, std::size_t count, std::size_t size) \
  X(mi_heap_recalloc_aligned, void*, Heap* heap, void* p, std::size_t count, std::size_t size, \
    std::size_t to) \
  X(mi_heap_recalloc_aligned_at, void*, Heap* heap, void* p, std::size_t count, std::size_t size, \
    std::size_t to, std::size_t offset)
#define HALO_MIMALLOC_CALLED(X) \
  X(mi_heap_get_default, Heap*) \
  X(mi_heap_main, Heap*)
// clang-format on

namespace native {
HALO_MIMALLOC(HALO_NATIVE)
HALO_MIMALLOC_CALLED(HALO_NATIVE)
}  // namespace native

// Its size in bytes.
std::size_t release_served(void* p) {
  const std::size_t size = size_of_served(p);
  free_served(p);
  return size;
}

std::size_t size_of(const void* p) { return size_of_served(const_cast<void*>(p)); }

// Blocks of the runtime count as part of the asking thread's default heap.
Heap* heap_of_served() {
  if (native::mi_heap_get_default != nullptr) return native::mi_heap_get_default();
  return native::mi_heap_main != nullptr ? native::mi_heap_main() : nullptr;
}

// What a reallocation asks for: `offset` bytes behind the start there is a multiple of `alignment`.
struct Wanted {
  std::size_t size;
  std::size_t alignment = 1;
  std::size_t offset = 0;
};

// A size that no allocator has, if the product overflows.
std::size_t product(std::size_t count, std::size_t size) {
  std::size_t bytes;
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
void* resize_or_free(void* p, std::size_t size, Reallocate reallocate) {
  void* const moved = resize(p, {size}, reallocate);
  if (moved == nullptr && is_served(p)) free_served(p);
  return moved;
}

template <typename Reallocate>
int resize_at(void* at, std::size_t count, std::size_t size, Reallocate reallocate) {
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

void* expand(void* p, std::size_t size) { return size <= size_of(p) ? p : nullptr; }

namespace ours {

HALO_MIMALLOC(HALO_OURS)

#define HALO_UNLESS_SERVED(name, ...) \
  if (!is_served(p)) return native::name(__VA_ARGS__)

std::size_t mi_free(void* p) {
  HALO_UNLESS_SERVED(mi_free, p);
  return release_served(p);
}
std::size_t mi_cfree(void* p) {
  HALO_UNLESS_SERVED(mi_cfree, p);
  return release_served(p);
}
std::size_t mi_free_small(void* p) {
  HALO_UNLESS_SERVED(mi_free_small, p);
  return release_served(p);
}
std::size_t mi_free_small_nonnull(void* p) {
  HALO_UNLESS_SERVED(mi_free_small_nonnull, p);
  return release_served(p);
}
std::size_t mi_free_size(void* p, std::size_t size) {
  HALO_UNLESS_SERVED(mi_free_size, p, size);
  return release_served(p);
}
std::size_t mi_free_aligned(void* p, std::size_t alignment) {
  HALO_UNLESS_SERVED(mi_free_aligned, p, alignment);
  return release_served(p);
}
std::size_t mi_free_size_aligned(void* p, std::size_t size, std::size_t alignment) {
  HALO_UNLESS_SERVED(mi_free_size_aligned, p, size, alignment);
  return release_served(p);
}
void mi_ufree(void* p, std::size_t* freed) {
  HALO_UNLESS_SERVED(mi_ufree, p, freed);
  const std::size_t size = release_served(p);
  if (freed != nullptr) *freed = size;
}
void vfree(void* p) {
  HALO_UNLESS_SERVED(vfree, p);
  free_served(p);
}
void __libc_cfree(void* p) {
  HALO_UNLESS_SERVED(__libc_cfree, p);
  free_served(p);
}

std::size_t mi_usable_size(const void* p) {
  HALO_UNLESS_SERVED(mi_usable_size, p);
  return size_of(p);
}
std::size_t mi_malloc_size(const void* p) {
  HALO_UNLESS_SERVED(mi_malloc_size, p);
  return size_of(p);
}
std::size_t mi_malloc_usable_size(const void* p) {
  HALO_UNLESS_SERVED(mi_malloc_usable_size, p);
  return size_of(p);
}
std::size_t malloc_size(const void* p) {
  HALO_UNLESS_SERVED(malloc_size, p);
  return size_of(p);
}

bool mi_check_owned(const void* p) { return is_served(p) || native::mi_check_owned(p); }
bool mi_is_in_heap_region(const void* p) { return is_served(p) || native::mi_is_in_heap_region(p); }
bool mi_any_heap_contains(const void* p) { return is_served(p) || native::mi_any_heap_contains(p); }
bool mi_heap_check_owned(Heap* heap, const void* p) {
  HALO_UNLESS_SERVED(mi_heap_check_owned, heap, p);
  return heap == heap_of_served();
}
bool mi_heap_contains_block(Heap* heap, const void* p) {
  HALO_UNLESS_SERVED(mi_heap_contains_block, heap, p);
  return heap == heap_of_served();
}
bool mi_heap_contains(Heap* heap, const void* p) {
  HALO_UNLESS_SERVED(mi_heap_contains, heap, p);
  return heap == heap_of_served();
}
Heap* mi_heap_of(const void* p) {
  HALO_UNLESS_SERVED(mi_heap_of, p);
  return heap_of_served();
}
bool mi_unsafe_heap_page_is_under_utilized(Heap* heap, void* p, std::size_t percent) {
  HALO_UNLESS_SERVED(mi_unsafe_heap_page_is_under_utilized, heap, p, percent);
  return false;
}

void* mi_expand(void* p, std::size_t size) {
  HALO_UNLESS_SERVED(mi_expand, p, size);
  return expand(p, size);
}
void* mi__expand(void* p, std::size_t size) {
  HALO_UNLESS_SERVED(mi__expand, p, size);
  void* const expanded = expand(p, size);
  if (expanded == nullptr) errno = ENOMEM;
  return expanded;
}

#define HALO_NATIVE_OF(name, ...) [=](void* from) { return native::name(__VA_ARGS__); }

void* mi_realloc(void* p, std::size_t size) {
  return resize(p, {size}, HALO_NATIVE_OF(mi_realloc, from, size));
}
void* mi_reallocf(void* p, std::size_t size) {
  return resize_or_free(p, size, HALO_NATIVE_OF(mi_reallocf, from, size));
}
void* reallocf(void* p, std::size_t size) {
  return resize_or_free(p, size, HALO_NATIVE_OF(reallocf, from, size));
}
void* mi_new_realloc(void* p, std::size_t size) {
  return resize(p, {size}, HALO_NATIVE_OF(mi_new_realloc, from, size));
}
void* mi_urealloc(void* p, std::size_t size, std::size_t* before, std::size_t* after) {
  HALO_UNLESS_SERVED(mi_urealloc, p, size, before, after);
  const std::size_t old = size_of(p);
  std::size_t of_none;
  std::size_t* const unused = &of_none;
  void* const moved = resize(p, {size}, HALO_NATIVE_OF(mi_urealloc, from, size, unused, after));
  if (before != nullptr) *before = old;
  if (after != nullptr && moved == p) *after = old;
  return moved;
}
void* mi_reallocn(void* p, std::size_t count, std::size_t size) {
  return resize(p, {product(count, size)}, HALO_NATIVE_OF(mi_reallocn, from, count, size));
}
void* mi_reallocarray(void* p, std::size_t count, std::size_t size) {
  return resize(p, {product(count, size)}, HALO_NATIVE_OF(mi_reallocarray, from, count, size));
}
void* mi_new_reallocn(void* p, std::size_t count, std::size_t size) {
  return resize(p, {product(count, size)}, HALO_NATIVE_OF(mi_new_reallocn, from, count, size));
}
int mi_reallocarr(void* at, std::size_t count, std::size_t size) {
  return resize_at(at, count, size, HALO_NATIVE_OF(mi_reallocarr, from, count, size));
}
int reallocarr(void* at, std::size_t count, std::size_t size) {
  return resize_at(at, count, size, HALO_NATIVE_OF(reallocarr, from, count, size));
}
void* mi_realloc_aligned(void* p, std::size_t size, std::size_t to) {
  return resize(p, {size, to}, HALO_NATIVE_OF(mi_realloc_aligned, from, size, to));
}
void* mi_realloc_aligned_at(void* p, std::size_t size, std::size_t to, std::size_t offset) {
  return resize(p, {size, to, offset},
                HALO_NATIVE_OF(mi_realloc_aligned_at, from, size, to, offset));
}
void* mi_rezalloc(void* p, std::size_t size) {
  return resize(p, {size}, HALO_NATIVE_OF(mi_rezalloc, from, size));
}
void* mi_rezalloc_aligned(void* p, std::size_t size, std::size_t to) {
  return resize(p, {size, to}, HALO_NATIVE_OF(mi_rezalloc_aligned, from, size, to));
}
void* mi_rezalloc_aligned_at(void* p, std::size_t size, std::size_t to, std::size_t offset) {
  return resize(p, {size, to, offset},
                HALO_NATIVE_OF(mi_rezalloc_aligned_at, from, size, to, offset));
}
void* mi_recalloc(void* p, std::size_t count, std::size_t size) {
  return resize(p, {product(count, size)}, HALO_NATIVE_OF(mi_recalloc, from, count, size));
}
void* mi_recalloc_aligned(void* p, std::size_t count, std::size_t size, std::size_t to) {
  return resize(p, {product(count, size), to},
                HALO_NATIVE_OF(mi_recalloc_aligned, from, count, size, to));
}
void* mi_aligned_recalloc(void* p, std::size_t count, std::size_t size, std::size_t to) {
  return resize(p, {product(count, size), to},
                HALO_NATIVE_OF(mi_aligned_recalloc, from, count, size, to));
}
void* mi_recalloc_aligned_at(void* p, std::size_t count, std::size_t size, std::size_t to,
                             std::size_t offset) {
  return resize(p, {product(count, size), to, offset},
                HALO_NATIVE_OF(mi_recalloc_aligned_at, from, count, size, to, offset));
}
void* mi_aligned_offset_recalloc(void* p, std::size_t count, std::size_t size, std::size_t to,
                                 std::size_t offset) {
  return resize(p, {product(count, size), to, offset},
                HALO_NATIVE_OF(mi_aligned_offset_recalloc, from, count, size, to, offset));
}
void* mi_heap_realloc(Heap* heap, void* p, std::size_t size) {
  return resize(p, {size}, HALO_NATIVE_OF(mi_heap_realloc, heap, from, size));
}
void* mi_theap_realloc(Heap* heap, void* p, std::size_t size) {
  return resize(p, {size}, HALO_NATIVE_OF(mi_theap_realloc, heap, from, size));
}
void* mi_heap_reallocf(Heap* heap, void* p, std::size_t size) {
  return resize_or_free(p, size, HALO_NATIVE_OF(mi_heap_reallocf, heap, from, size));
}
void* mi_heap_reallocn(Heap* heap, void* p, std::size_t count, std::size_t size) {
  return resize(p, {product(count, size)},
                HALO_NATIVE_OF(mi_heap_reallocn, heap, from, count, size));
}
void* mi_heap_realloc_aligned(Heap* heap, void* p, std::size_t size, std::size_t to) {
  return resize(p, {size, to}, HALO_NATIVE_OF(mi_heap_realloc_aligned, heap, from, size, to));
}
void* mi_heap_realloc_aligned_at(Heap* heap, void* p, std::size_t size, std::size_t to,
                                 std::size_t offset) {
  return resize(p, {size, to, offset},
                HALO_NATIVE_OF(mi_heap_realloc_aligned_at, heap, from, size, to, offset));
}
void* mi_heap_rezalloc(Heap* heap, void* p, std::size_t size) {
  return resize(p, {size}, HALO_NATIVE_OF(mi_heap_rezalloc, heap, from, size));
}
void* mi_heap_rezalloc_aligned(Heap* heap, void* p, std::size_t size, std::size_t to) {
  return resize(p, {size, to}, HALO_NATIVE_OF(mi_heap_rezalloc_aligned, heap, from, size, to));
}
void* mi_heap_rezalloc_aligned_at(Heap* heap, void* p, std::size_t size, std::size_t to,
                                  std::size_t offset) {
  return resize(p, {size, to, offset},
                HALO_NATIVE_OF(mi_heap_rezalloc_aligned_at, heap, from, size, to, offset));
}
void* mi_heap_recalloc(Heap* heap, void* p, std::size_t count, std::size_t size) {
  return resize(p, {product(count, size)},
                HALO_NATIVE_OF(mi_heap_recalloc, heap, from, count, size));
}
void* mi_heap_recalloc_aligned(Heap* heap, void* p, std::size_t count, std::size_t size,
                               std::size_t to) {
  return resize(p, {product(count, size), to},
                HALO_NATIVE_OF(mi_heap_recalloc_aligned, heap, from, count, size, to));
}
void* mi_heap_recalloc_aligned_at(Heap* heap, void* p, std::size_t count, std::size_t size,
                                  std::size_t to, std::size_t offset) {
  return resize(p, {product(count, size), to, offset},
                HALO_NATIVE_OF(mi_heap_recalloc_aligned_at, heap, from, count, size, to, offset));
}

#undef HALO_NATIVE_OF
#undef HALO_UNLESS_SERVED

}  // namespace ours

const InterfaceFunction functions[] = {HALO_MIMALLOC(HALO_ROW) HALO_MIMALLOC_CALLED(HALO_CALLED_ROW)
                                           HALO_MIMALLOC_STATISTICS(HALO_STATISTICS_ROW)};

// mi_rezalloc and the like find what lies behind the size of a calloc zeroed, too.
bool clear_whole_blocks(const LoadedModule&) { return clearing_whole_blocks = true; }

}  // namespace

const AllocatorInterface mimalloc_interface{"mi_version", functions, clear_whole_blocks};

}  // namespace halo::runtime
