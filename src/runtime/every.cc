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
  static void* malloc(std::size_t size) { return serve_fast<serve_uncached, serve_any>(size); }

  // operator new.
  static void* make(std::size_t size) { return serve_fast<make_uncached, make_any>(size); }

  static void* calloc(std::size_t count, std::size_t size) {
    std::size_t bytes;
    if (!__builtin_mul_overflow(count, size, &bytes) && bytes <= max_object)
      if (void* p = serve(bytes, choose(own_slot()))) return std::memset(p, 0, bytes);
    return beyond.calloc(count, size);
  }

  // Of what is in no group. Moved into one if the next allocator can say how much there is to copy.
  static void* realloc(void* p, std::size_t size) {
    if (p == nullptr) return serve_any(size, own_slot());
    if (size == 0 || size > max_object || beyond.usable_size == nullptr)
      return beyond.realloc(p, size);
    void* moved = serve(size, choose(own_slot()));
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
  template <void* (*uncached)(std::size_t, CallerCode),
            void* (*any)(std::size_t, const std::uintptr_t*)>
  [[gnu::always_inline]] static void* serve_fast(std::size_t size) {
    if (!is_quick<most_direct>(size)) [[unlikely]]
      return any(size, own_slot());
    const CallerCode code = choose(own_slot());
    void* p = is_decided(code) ? cached_block<most_direct>(code, size) : nullptr;
    return p != nullptr ? p : uncached(size, code);
  }

  static void* serve(std::size_t size, CallerCode code) {
    if (is_decided(code) && is_quick<plan::max_object_limit>(size)) {
      if (void* p = cached_block<plan::max_object_limit>(code, size)) return p;
      if (void* p = cut_block(code, size)) return p;
    }
    return allocate_in(code, size);
  }

  [[gnu::noinline]] static void* serve_uncached(std::size_t size, CallerCode code) {
    void* p = serve(size, code);
    return p != nullptr ? p : beyond.malloc(size);
  }
  [[gnu::noinline]] static void* serve_any(std::size_t size, const std::uintptr_t* slot) {
    return size <= max_object ? serve_uncached(size, choose(slot)) : beyond.malloc(size);
  }

  [[gnu::noinline]] static void* make_uncached(std::size_t size, CallerCode code) {
    void* p = serve_uncached(size, code);
    return p != nullptr ? p : refused_new("_Znwm", size);
  }
  [[gnu::noinline]] static void* make_any(std::size_t size, const std::uintptr_t* slot) {
    void* p = serve_any(size == 0 ? 1 : size, slot);
    return p != nullptr ? p : refused_new("_Znwm", size);
  }
};

CallerCode draw(const std::uintptr_t*) { return draw_pool(); }

CallerCode take_only_group(const std::uintptr_t*) {
  return decided_code(0, false) | alignment_of_pools();
}

}  // namespace

constinit DecideEvery decide_every = nullptr;

void draw_every_allocation() { Every<draw>::install(); }
void group_every_allocation() {
  Every<take_only_group>::install();
  new_of_others = Every<take_only_group>::make;
}
void select_every_allocation() { Every<select_group>::install(); }

}  // namespace halo::runtime
