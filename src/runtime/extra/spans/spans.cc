// Spans behind the exported functions: groups with spans get their larger objects from the span
// heap, and the functions for blocks of others tell spans apart.

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "base/old_c_library.h"
#include "plan/format.h"
#include "runtime/base/active_plan.h"
#include "runtime/base/next.h"
#include "runtime/extra.h"
#include "runtime/extra/spans/span_heap.h"
#include "runtime/extra/spans/span_watcher.h"
#include "runtime/pages/arena.h"

namespace halo::runtime {

constinit SpanHeap span_heap;
constinit bool has_spans = false;

namespace {

constexpr size_t kMaxRange = size_t{64} << 30;
constexpr size_t kMinRange = size_t{1} << 30;
constexpr size_t kColouredRingBytes = size_t{256} << 20;

// How a group's objects are placed.
class GroupSpans {
 public:
  void set(const plan::Group& group, uint32_t ring) {
    ring_ = ring;
    ring_bytes_ = group.starts & ~plan::kRingDensity;
    const bool confined = (group.flags & plan::kGroupConfined) != 0;
    has_spans_ = (group.flags & plan::kGroupSpans) != 0;
    confined_.store(confined, std::memory_order_relaxed);
  }

  // The number of its ring; only if it has one.
  uint32_t ring() const { return ring_; }
  bool has_ring() const { return has_spans_ && ring_bytes_ != 0; }

  void confine(bool confined) {
    if (ring_bytes_ != 0) confined_.store(confined, std::memory_order_relaxed);
  }

  Span allocate(size_t bytes) {
    if (!has_spans_) return {};
    if (!confined_.load(std::memory_order_relaxed)) return span_heap.allocate(bytes);
    const Span span = span_heap.allocate_confined(ring_, ring_bytes_, bytes);
    if (span.p != nullptr) {
      fits_.fetch_add(1, std::memory_order_relaxed);
      return span;
    }
    if (!span_heap.has_coloured_rings()) give_up();  // those grow
    return span_heap.allocate(bytes);
  }

 private:
  // The ring had no room. A group with many such objects is not confined any more.
  void give_up() {
    const uint32_t unfit = unfit_.fetch_add(1, std::memory_order_relaxed) + 1;
    const uint32_t fits = fits_.load(std::memory_order_relaxed);
    if (unfit >= kMaxUnfit && unfit * uint64_t{kUnfitShare} > fits)
      confined_.store(false, std::memory_order_relaxed);
  }

  static constexpr uint32_t kMaxUnfit = 3;
  static constexpr uint32_t kUnfitShare = 333;

  uint32_t ring_ = 0;
  size_t ring_bytes_ = 0;
  bool has_spans_ = false;
  std::atomic<bool> confined_{false};
  std::atomic<uint32_t> fits_{0}, unfit_{0};
};

constexpr uint32_t kMaxSpanGroups = 256;
constinit std::array<GroupSpans, kMaxSpanGroups> groups{};
constinit const HaloSpanWatcher* watcher = nullptr;

void announce(void* p, size_t bytes, uint32_t group) {
  uint32_t* const state = span_heap.watch_state_of(p);
  const uint32_t count = (__atomic_load_n(state, __ATOMIC_RELAXED) >> kHaloSpanStateBits) + 1;
  __atomic_store_n(state, count << kHaloSpanStateBits | kHaloSpanAnnounced, __ATOMIC_RELEASE);
  watcher->allocated(p, bytes, group, state);
}

// Frees a span of the program; other pointers are ignored.
void free_span(void* p) {
  if (watcher != nullptr && span_heap.usable_size(p) != 0)
    watcher->freeing(p, span_heap.watch_state_of(p));
  span_heap.free(p);
}

void confine(uint32_t number, uint8_t confined) {
  if (number < kMaxSpanGroups) groups[number].confine(confined != 0);
}

HaloWatchedGroup watched_group(uint32_t number) {
  if (number >= active_plan.groups.size()) return {};
  const plan::Group& group = active_plan.groups[number];
  if ((group.flags & plan::kGroupSpans) == 0) return {};
  const bool confined = (group.flags & plan::kGroupConfined) != 0;
  return {group.starts & ~plan::kRingDensity,
          static_cast<uint32_t>(group.starts & plan::kRingDensity), 1, confined};
}

void arena_range(uintptr_t* begin, size_t* bytes) {
  *begin = arena.base();
  *bytes = arena.bytes();
}

void spans_range(uintptr_t* begin, size_t* bytes) {
  *begin = span_heap.begin();
  *bytes = span_heap.mapped();
}

void colour_rings(size_t kept) { span_heap.colour_rings(kColouredRingBytes, kept); }

HaloRingPart part_of(const SpanHeap::Part& part) { return {part.begin, part.bytes}; }

HaloRingPart ring_of(uint32_t number) {
  if (number >= kMaxSpanGroups || !groups[number].has_ring()) return {};
  return part_of(span_heap.coloured_ring(groups[number].ring()));
}

HaloRingPart take_empty(uint32_t number, size_t most) {
  return part_of(span_heap.take_empty(groups[number].ring(), most));
}

uint8_t supply(uint32_t number, uintptr_t begin, size_t bytes) {
  return span_heap.supply(groups[number].ring(), begin, bytes) ? 1 : 0;
}

constinit HaloSpanControl control = {
    0, watched_group, arena_range, spans_range, confine, colour_rings, ring_of, take_empty, supply};

// The next allocator's own functions, used by the wrappers below.
constinit NextAllocator others{};

void free_span_or_other(void* p) {
  if (!span_heap.contains(p)) return others.free(p);
  free_span(p);
}

void* move_span(void* p, size_t size) {
  const size_t old = span_heap.usable_size(p);
  if (span_stays(p, size)) return p;
  if (size == 0) {
    free_span(p);
    return nullptr;
  }
  void* moved = next.malloc(size);
  if (moved == nullptr) return size <= old ? p : nullptr;
  std::memcpy(moved, p, std::min(old, size));
  free_span(p);
  return moved;
}

void* realloc_span_or_other(void* p, size_t size) {
  return span_heap.contains(p) ? move_span(p, size) : others.realloc(p, size);
}

size_t usable_size_of_span_or_other(void* p) {
  return span_heap.contains(p) ? span_heap.usable_size(p) : others.usable_size(p);
}

void libc_free_span_or_other(void* p) {
  if (!span_heap.contains(p)) return others.libc_free(p);
  free_span(p);
}

void* libc_realloc_span_or_other(void* p, size_t size) {
  return span_heap.contains(p) ? move_span(p, size) : others.libc_realloc(p, size);
}

void tell_spans_apart() {
  others = next;
  next.set_free(free_span_or_other);
  next.realloc = realloc_span_or_other;
  if (next.usable_size != nullptr) next.usable_size = usable_size_of_span_or_other;
  if (next.libc_free != nullptr) next.libc_free = libc_free_span_or_other;
  if (next.libc_realloc != nullptr) next.libc_realloc = libc_realloc_span_or_other;
}

// By its name: the library of the watch is preloaded, or not.
void begin_watch() {
  const auto begin = reinterpret_cast<HaloWatchBegin>(find_symbol(RTLD_DEFAULT, kHaloWatchBegin));
  if (begin == nullptr) return;
  control.groups = std::min(kMaxSpanGroups, static_cast<uint32_t>(active_plan.groups.size()));
  watcher = begin(&control);
}

bool reserve() {
  for (size_t bytes = kMaxRange; bytes >= kMinRange; bytes /= 4)
    if (span_heap.reserve(bytes)) return true;
  return false;
}

}  // namespace

void begin_spans() {
  uint32_t ring = 0;
  bool wanted = false;
  const auto count = std::min<size_t>(active_plan.groups.size(), kMaxSpanGroups);
  for (size_t number = 0; number < count; ++number) {
    const plan::Group& group = active_plan.groups[number];
    if ((group.flags & plan::kGroupSpans) == 0) continue;
    groups[number].set(group, ring);
    const bool has_ring = (group.starts & ~plan::kRingDensity) != 0;
    ring = std::min<uint32_t>(ring + (has_ring ? 1 : 0), SpanHeap::kMaxRings - 1);
    wanted = true;
  }
  if (!wanted || !reserve()) return;
  tell_spans_apart();
  has_spans = true;
  begin_watch();
}

bool is_span(const void* p) { return has_spans && span_heap.contains(p); }

size_t usable_size_of_span(const void* p) { return span_heap.usable_size(p); }

size_t purge_spans() { return has_spans ? span_heap.purge() : 0; }

SpanBytes span_bytes() { return has_spans ? span_heap.bytes() : SpanBytes{}; }

SpanCounts span_counts() { return span_heap.counts(); }

bool span_stays(const void* p, size_t size) {
  if (!is_span(p)) return false;
  const size_t old = span_heap.usable_size(p);
  return size <= old && size >= old / 2 && size != 0;
}

Span allocate_span(uint16_t group, size_t size) {
  if (group >= kMaxSpanGroups) return {};
  const Span span = groups[group].allocate(size);
  if (watcher != nullptr && span.p != nullptr) announce(span.p, size, group);
  return span;
}

}  // namespace halo::runtime
