// Spans behind the exported functions: groups with spans get their larger objects from the span
// heap, and the functions for blocks of others tell spans apart.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/exported.h"
#include "runtime/spans/span_heap.h"

namespace halo::runtime {

HALO_HIDDEN extern constinit SpanHeap span_heap;

// Whether any group of the plan has spans.
HALO_HIDDEN extern constinit bool has_spans;

inline bool may_be_span(size_t size) { return has_spans && size > kSpanUnit && size <= kMaxSpan; }

// Begins, if a group of the plan has spans. Called once, after `resolve_next`, before other threads
// exist.
void begin_spans();

// Whether realloc leaves `p` where it is: it is a span whose size is suitable.
bool span_stays(const void* p, size_t size);

// A span for an object of that group, or nullptr: forward.
Span allocate_span(uint16_t group, size_t size);

}  // namespace halo::runtime
