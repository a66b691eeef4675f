// What libhalo-extra.so has beyond libhalo.so: the mechanisms that only studies and controls need.
// In libhalo.so, which refuses plans that need them, they are empty.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "plan/plan_file.h"
#include "runtime/base/exported.h"

namespace halo::runtime {

#ifdef HALO_EXTRA
inline constexpr bool kHasExtra = true;
#else
inline constexpr bool kHasExtra = false;
#endif

// Whether only libhalo-extra.so can serve that plan.
inline bool needs_extra(const plan::PlanView& plan) {
  constexpr uint32_t kFlags = plan::kGroupSpans | plan::kGroupStepping;
  if (plan.selects() || (plan.draws_pools() && plan.groups.size() > 1)) return true;
  return std::ranges::any_of(plan.groups,
                             [](const plan::Group& group) { return (group.flags & kFlags) != 0; });
}

// The sizes of spans: more, and at most.
inline constexpr size_t kSpanUnit = size_t{64} << 10;
inline constexpr size_t kMaxSpan = size_t{1} << 30;

// A span, for an object that is too large for its group's heap (extra/spans).
struct Span {
  void* p;       // nullptr: refused
  bool is_zero;  // it was never used before
};
// Bytes, and spans in use.
struct SpanBytes {
  uint64_t spans, live, used, kept, mapped;  // used: of units in use, the rings' included
};
struct SpanCounts {
  uint64_t allocations, refusals, live, peak_live;  // live: bytes
  uint64_t confined, unfit;  // allocations in a ring, and those for which there was no room
  uint64_t freed;
};

// The heap of all groups whose allocations step to a permitted cache set (extra/stepping). Bytes,
// and numbers of events. `live` are blocks in use, `skipped` all bytes that the bump pointer ever
// stepped over.
struct SteppingCounts {
  uint64_t live, peak_live, resident, peak_resident, live_at_peak, pages, skipped, refusals;
};

// Call sites of selectors (extra/redirect): those that are redirected, that need no redirection,
// and that cannot be redirected.
struct SiteCounts {
  uint32_t redirected, immediate, left;
};

#ifdef HALO_EXTRA

// Begins, if a group of the plan has spans. Called once, after `resolve_next`, before other threads
// exist.
void begin_spans();
// Whether any group of the plan has spans.
HALO_HIDDEN extern constinit bool has_spans;
inline bool may_be_span(size_t size) { return has_spans && size > kSpanUnit && size <= kMaxSpan; }
// A span for an object of that group, or nullptr: forward.
Span allocate_span(uint16_t group, size_t size);
bool is_span(const void* p);
size_t usable_size_of_span(const void* p);
// Whether realloc leaves `p` where it is: it is a span whose size is suitable.
bool span_stays(const void* p, size_t size);
// Returns unused memory to the kernel, and its size in bytes.
size_t purge_spans();
SpanBytes span_bytes();
SpanCounts span_counts();

// Before the first block: the heap outlives forks.
void begin_stepping();
// A block of `bytes`, a multiple of 8, for that group; nullptr: refused.
void* serve_stepping(const plan::Group& group, uint32_t bytes);
// Frees such a block, and ignores what is none.
void free_stepping(void* p);
SteppingCounts stepping_counts();

// Serves every object of at most `max_object` bytes from one of that many groups. Called once,
// before other threads exist.
void set_random_pools_policy(uint32_t pools);

// Starts a plan whose selectors use redirected calls. `stack_end`: of the calling thread; 0 if it
// is not the first one.
void begin_selectors(uintptr_t stack_end);
// Serves from the group that the selectors choose. Called once, when the modules are known.
void set_selectors_policy();
SiteCounts site_counts();

#else

inline void begin_spans() {}
inline constexpr bool has_spans = false;
inline bool may_be_span(size_t) { return false; }
inline Span allocate_span(uint16_t, size_t) { return {}; }
inline bool is_span(const void*) { return false; }
inline size_t usable_size_of_span(const void*) { return 0; }
inline bool span_stays(const void*, size_t) { return false; }
inline size_t purge_spans() { return 0; }
inline SpanBytes span_bytes() { return {}; }
inline SpanCounts span_counts() { return {}; }
inline void begin_stepping() {}
inline void* serve_stepping(const plan::Group&, uint32_t) { return nullptr; }
inline void free_stepping(void*) {}
inline SteppingCounts stepping_counts() { return {}; }
inline void set_random_pools_policy(uint32_t) {}
inline void begin_selectors(uintptr_t) {}
inline void set_selectors_policy() {}
inline SiteCounts site_counts() { return {}; }

#endif

}  // namespace halo::runtime
