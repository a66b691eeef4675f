#include "runtime/every.h"

#include <cstring>

#include "runtime/grouped.h"
#include "runtime/next.h"
#include "runtime/random_pools.h"
#include "runtime/selectors.h"

namespace halo::runtime {
namespace {

// What was next before.
constinit NextAllocator beyond{};

// malloc, calloc and realloc as the exported functions reach them: by a jump, or from operator new.
// `choose` says where an object goes, given a place on the stack at or just below its caller's.
template <CallerCode (*choose)(const std::uintptr_t* slot)>
struct Every {
  static void* malloc(std::size_t size) {
    if (size <= max_object)
      if (void* p = serve(choose(own_slot()), size)) [[likely]]
        return p;
    return beyond.malloc(size);
  }

  static void* calloc(std::size_t count, std::size_t size) {
    std::size_t bytes;
    if (!__builtin_mul_overflow(count, size, &bytes) && bytes <= max_object)
      if (void* p = allocate_zeroed_in(choose(own_slot()), bytes)) return p;
    return beyond.calloc(count, size);
  }

  // Of what is in no group. Moved into one if the next allocator can say how much there is to copy.
  static void* realloc(void* p, std::size_t size) {
    if (p == nullptr) return malloc(size);
    if (size == 0 || size > max_object || beyond.usable_size == nullptr)
      return beyond.realloc(p, size);
    void* moved = serve(choose(own_slot()), size);
    if (moved == nullptr) return beyond.realloc(p, size);
    const std::size_t old = beyond.usable_size(p);
    std::memcpy(moved, p, old < size ? old : size);
    beyond.free(p);
    return moved;
  }

  static void install() {
    decide_every = choose;
    beyond = next;
    next.malloc = fallback.malloc = malloc;
    next.calloc = fallback.calloc = calloc;
    next.realloc = realloc;
  }

 private:
  static void* serve(CallerCode code, std::size_t size) {
    // 0 becomes the largest of all.
    if (!checking_build && is_decided(code) && size - 1 < quick_max) [[likely]]
      if (void* p = cached_block(code, size)) [[likely]]
        return p;
    return serve_uncached(code, size);
  }

  [[gnu::noinline]] static void* serve_uncached(CallerCode code, std::size_t size) {
    if (!checking_build && is_decided(code) && size - 1 < quick_max)
      if (void* p = cut_block(code, size)) return p;
    return allocate_in(code, size);
  }
};

CallerCode draw(const std::uintptr_t*) { return draw_pool(); }

CallerCode take_only_group(const std::uintptr_t*) {
  return decided_code(0, __atomic_load_n(&random_align16, __ATOMIC_RELAXED));
}

}  // namespace

constinit DecideEvery decide_every = nullptr;

void draw_every_allocation() { Every<draw>::install(); }
void group_every_allocation() { Every<take_only_group>::install(); }
void select_every_allocation() { Every<select_group>::install(); }

}  // namespace halo::runtime
