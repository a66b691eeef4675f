// The C functions.
#include <errno.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/old_c_library.h"
#include "tidy/context.h"
#include "tidy/fallback.h"
#include "tidy/include/halo/tidy.h"

using halo::tidy::Context;
using halo::tidy::ContextSettings;
using halo::tidy::HeapCounts;
using halo::tidy::page_memory;
namespace fallback = halo::tidy::fallback;

struct tidy_ctx {};

namespace {

static_assert(TIDY_MAX_DIMENSIONS == halo::tidy::kMaxDimensions);

constexpr size_t kMaxAlignment = 16;  // of blocks
constexpr unsigned kFlags = TIDY_THREAD_LOCAL | TIDY_EXACT;
constexpr size_t kMinBucket = 64;

Context* process_context = nullptr;
pthread_once_t process_once = PTHREAD_ONCE_INIT;

void open_process_context() {
  if (Context::open()) process_context = Context::make({});
}

Context* context_of(tidy_ctx_t* ctx) { return reinterpret_cast<Context*>(ctx); }

void* refused() {
  errno = ENOMEM;
  return nullptr;
}

// Whether the settings are in their ranges; `out` gets them.
bool read_settings(const tidy_settings_t& given, ContextSettings& out) {
  const unsigned dimensions = given.dimensions == 0 ? 1 : given.dimensions;
  const size_t bucket = given.bucket_bytes == 0 ? out.heap.bucket_bytes : given.bucket_bytes;
  if (dimensions > TIDY_MAX_DIMENSIONS || (given.flags & ~kFlags) != 0) return false;
  if (!std::has_single_bit(bucket) || bucket < kMinBucket || bucket > halo::tidy::kPageBytes)
    return false;
  std::array<uint32_t, TIDY_MAX_DIMENSIONS> sizes{};
  std::copy_n(given.sizes, dimensions, sizes.begin());
  out.heap.bucket_bytes = static_cast<uint32_t>(bucket);
  out.heap.adaptive = (given.flags & TIDY_EXACT) == 0;
  out.keys = {dimensions, sizes};
  out.thread_local_heaps = (given.flags & TIDY_THREAD_LOCAL) != 0;
  return true;
}

// A block of the context, or of the fallback.
void* serve(Context* context, size_t size, const uint64_t* key) {
  if (size > PTRDIFF_MAX) return refused();
  if (context == nullptr) return fallback::allocate(size);
  const size_t wanted = std::max<size_t>(size, 1);
  if (wanted <= context->max_bytes())
    if (void* p = context->allocate(key, static_cast<uint32_t>(wanted))) return p;
  context->count_forwarded();
  return fallback::allocate(size);
}

void* serve(tidy_ctx_t* ctx, size_t size, const unsigned* hint) {
  Context* const context = context_of(ctx);
  if (context == nullptr || hint == nullptr)
    return serve(context, size, static_cast<uint64_t*>(nullptr));
  const uint64_t key = context->key(hint);
  return serve(context, size, &key);
}

// Whether the block at `p` of `old` bytes serves for `size`: it has them, is not twice as large,
// and is aligned as a new one would be.
bool stays(const void* p, size_t old, size_t size) {
  const size_t rounded = (std::max<size_t>(size, 1) + 7) & ~size_t{7};
  const size_t alignment = std::min(kMaxAlignment, rounded & -rounded);
  return rounded <= old && rounded > old / 2 && reinterpret_cast<uintptr_t>(p) % alignment == 0;
}

}  // namespace

extern "C" {

tidy_ctx_t* tidy_create(const tidy_settings_t* settings) {
  ContextSettings wanted;
  if (settings != nullptr && !read_settings(*settings, wanted)) {
    errno = EINVAL;
    return nullptr;
  }
  Context* const context = Context::open() ? Context::make(wanted) : nullptr;
  if (context == nullptr) errno = ENOMEM;
  return reinterpret_cast<tidy_ctx_t*>(context);
}

void tidy_destroy(tidy_ctx_t* ctx) {
  if (ctx != nullptr) context_of(ctx)->destroy();
}

void* tidy_alloc(tidy_ctx_t* ctx, size_t size, const unsigned* hint) {
  return serve(ctx, size, hint);
}

void* tidy_malloc(size_t size, uint64_t hint) {
  halo::run_once(process_once, open_process_context);
  return serve(process_context, size, &hint);
}

void* tidy_near(tidy_ctx_t* ctx, size_t size, const void* neighbour) {
  Context* const context = context_of(ctx);
  const size_t wanted = std::max<size_t>(size, 1);
  if (context != nullptr && neighbour != nullptr && page_memory.contains(neighbour) &&
      wanted <= context->max_bytes())
    if (void* p = context->allocate_near(neighbour, static_cast<uint32_t>(wanted))) return p;
  return serve(context, size, static_cast<uint64_t*>(nullptr));
}

// A block with as many bytes as the alignment is aligned to it only up to 16.
void* tidy_alloc_aligned(tidy_ctx_t* ctx, size_t alignment, size_t size, const unsigned* hint) {
  if (!std::has_single_bit(alignment)) {
    errno = EINVAL;
    return nullptr;
  }
  if (size > PTRDIFF_MAX) return refused();
  if (alignment > kMaxAlignment) {
    if (ctx != nullptr) context_of(ctx)->count_forwarded();
    return fallback::allocate_aligned(alignment, size);
  }
  const size_t rounded = (std::max<size_t>(size, 1) + alignment - 1) & ~(alignment - 1);
  return serve(ctx, rounded, hint);
}

void* tidy_calloc(tidy_ctx_t* ctx, size_t count, size_t size, const unsigned* hint) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX) return refused();
  if (ctx == nullptr || bytes > context_of(ctx)->max_bytes()) {
    if (ctx != nullptr) context_of(ctx)->count_forwarded();
    return fallback::allocate_zeroed(count, size);
  }
  void* const p = serve(ctx, bytes, hint);
  return p == nullptr ? nullptr : std::memset(p, 0, bytes);
}

void* tidy_realloc(tidy_ctx_t* ctx, void* p, size_t size, const unsigned* hint) {
  if (p == nullptr) return tidy_alloc(ctx, size, hint);
  if (size > PTRDIFF_MAX) return refused();
  const size_t old = tidy_usable_size(p);
  if (tidy_owns(p)) {
    if (stays(p, old, size)) return p;
  } else if (ctx == nullptr || size > context_of(ctx)->max_bytes()) {
    return fallback::reallocate(p, std::max<size_t>(size, 1));
  }
  void* const moved = tidy_alloc(ctx, size, hint);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, p, std::min(old, size));
  tidy_free(p);
  return moved;
}

void tidy_free(void* p) {
  if (!page_memory.contains(p)) return fallback::free(p);
  if (halo::tidy::SharedHeap* heap = page_memory.heap_of(p)) heap->free(p);
}

size_t tidy_usable_size(const void* p) {
  if (p == nullptr) return 0;
  if (!page_memory.contains(p)) return fallback::usable_size(const_cast<void*>(p));
  halo::tidy::SharedHeap* const heap = page_memory.heap_of(p);
  return heap == nullptr ? 0 : heap->size_of(p);
}

int tidy_owns(const void* p) { return page_memory.contains(p); }

void tidy_stats(tidy_ctx_t* ctx, tidy_stats_t* stats) {
  *stats = {};
  if (ctx == nullptr) return;
  HeapCounts counts;
  context_of(ctx)->count(counts, stats->resident_bytes);
  stats->live_bytes = counts.live_bytes;
  stats->buckets = counts.buckets;
  stats->cells = counts.cells;
  stats->spilled = counts.spilled;
  stats->forwarded = context_of(ctx)->forwarded();
}

}  // extern "C"
