// The exported functions of a policy that decides about every allocation.
#pragma once

#include <cstddef>

#include "runtime/base/next.h"
#include "runtime/extra.h"
#include "runtime/serve/global_policy.h"
#include "runtime/serve/grouped.h"
#include "runtime/serve/requests.h"

namespace halo::runtime {

// The next allocator before the policy was set.
HALO_HIDDEN extern constinit NextAllocator replaced_next;

// malloc, calloc and realloc as the exported functions enter them: by a jump, or from operator new.
// `choose` selects the group, given a stack address at or just below the caller's return address.
template <CallerCode (*choose)(const uintptr_t* slot)>
struct PolicyFunctions {
  static void* malloc(size_t size) { return serve_fast<serve_uncached, serve_any>(size); }

  // The fallback of operator new.
  static void* make(size_t size) { return serve_fast<make_uncached, make_any>(size); }

  static void* calloc(size_t count, size_t size) {
    const auto* slot = own_slot();
    const auto allocate = [&](size_t bytes) { return serve(bytes, choose(slot)); };
    size_t bytes;
    const bool large = !__builtin_mul_overflow(count, size, &bytes) && bytes > max_object;
    void* p = large ? cleared(allocate_large(bytes, slot), bytes)
                    : calloc_in_group(count, size, allocate);
    return p != nullptr ? p : replaced_next.calloc(count, size);
  }

  // Reallocates a block that is in no group.
  static void* realloc(void* p, size_t size) {
    const auto* slot = own_slot();
    if (span_stays(p, size)) return p;
    return realloc_into_group(replaced_next, p, size, [&](size_t bytes) {
      return bytes <= max_object ? serve(bytes, choose(slot)) : allocate_large(bytes, slot).p;
    });
  }

  static void install() {
    global_policy = choose;
    replaced_next = next;
    next.malloc = fallback.malloc = malloc;
    next.calloc = fallback.calloc = calloc;
    next.realloc = realloc;
  }

 private:
  template <void* (*uncached)(size_t, CallerCode), void* (*any)(size_t, const uintptr_t*)>
  [[gnu::always_inline]] static void* serve_fast(size_t size) {
    if (!is_fast_size<kMaxDirect>(size)) [[unlikely]]
      return any(size, own_slot());
    const CallerCode code = choose(own_slot());
    void* p = is_decided(code) ? served_block<kMaxDirect>(code, size) : nullptr;
    return p != nullptr ? p : uncached(size, code);
  }

  [[gnu::noinline]] static Span allocate_large(size_t size, const uintptr_t* slot) {
    return may_be_span(size) ? allocate_span(verdict_of(choose(slot), 0).group, size) : Span{};
  }

  static void* serve(size_t size, CallerCode code) {
    if (is_decided(code) && is_fast_size<plan::kMaxObjectLimit>(size)) {
      if (void* p = served_block(code, size)) return p;
      if (void* p = next_block(code, size)) return p;
    }
    return allocate_in(code, size);
  }

  [[gnu::noinline]] static void* serve_uncached(size_t size, CallerCode code) {
    void* p = serve(size, code);
    return p != nullptr ? p : replaced_next.malloc(size);
  }
  [[gnu::noinline]] static void* serve_any(size_t size, const uintptr_t* slot) {
    if (size <= max_object) return serve_uncached(size, choose(slot));
    void* p = allocate_large(size, slot).p;
    return p != nullptr ? p : replaced_next.malloc(size);
  }

  [[gnu::noinline]] static void* make_uncached(size_t size, CallerCode code) {
    void* p = serve_uncached(size, code);
    return p != nullptr ? p : refused_new("_Znwm", size);
  }
  [[gnu::noinline]] static void* make_any(size_t size, const uintptr_t* slot) {
    void* p = serve_any(size == 0 ? 1 : size, slot);
    return p != nullptr ? p : refused_new("_Znwm", size);
  }
};

}  // namespace halo::runtime
