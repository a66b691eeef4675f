#include "runtime/extra/spans/span_heap.h"

#include <sys/mman.h>

#include <algorithm>

#include "base/keep_errno.h"
#include "runtime/pages/page.h"

namespace halo::runtime {
namespace {

constexpr size_t kLine = 64;
constexpr size_t kLinesOfPage = kSystemPage / kLine;
constexpr size_t kMinKept = size_t{16} << 20;  // bytes of free units in memory
constexpr size_t kKeptShare = 8;               // likewise, of those in use
constexpr size_t kPurgedAtOnce = 32;           // units
constexpr size_t kMinGrowth = size_t{4} << 20;
// The arena and Tidy's memory are where the first attempts lead, and need room to grow.
constexpr unsigned kFirstAttempt = 3;
constexpr unsigned kLastAttempt = 6;

constexpr size_t round_up(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

// Zeroes, of which only touched pages take memory; nullptr if there is no room.
template <typename T>
T* map_table(size_t count) {
  void* p = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : static_cast<T*>(p);
}

// Returns the memory to the kernel. False if it stays, as locked memory does.
bool discard(uintptr_t begin, size_t bytes) {
  return madvise(reinterpret_cast<void*>(begin), bytes, MADV_DONTNEED) == 0;
}

class Locked {
 public:
  explicit Locked(BoundedLock& lock) : lock_(lock), held_(lock.acquire()) {}
  ~Locked() {
    if (held_) lock_.release();
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  explicit operator bool() const { return held_; }

 private:
  BoundedLock& lock_;
  bool held_;
};

}  // namespace

bool SpanHeap::reserve(size_t bytes) {
  const size_t units = bytes / kSpanUnit;
  entries_ = map_table<Entry>(units);
  states_ = map_table<uint32_t>(units);
  rings_ = map_table<Ring>(kMaxRings);
  if (entries_ == nullptr || states_ == nullptr || rings_ == nullptr || !units_.reserve(units))
    return false;
  for (unsigned attempt = kFirstAttempt; attempt <= kLastAttempt; ++attempt) {
    const uintptr_t at = ranges::find_room(bytes, attempt);
    if (at == 0) break;
    memory_.set(at, 0, PROT_READ | PROT_WRITE);
    if (!memory_.grow(kSpanUnit)) continue;
    set_size(bytes, kSpanUnit);
    return true;
  }
  // The address space is not the usual one: anywhere, as a whole.
  void* p = map_table<char>(bytes);
  if (p == nullptr) return false;
  memory_.set(reinterpret_cast<uintptr_t>(p), bytes, PROT_READ | PROT_WRITE);
  set_size(bytes, bytes);
  return true;
}

void SpanHeap::set_size(size_t maximum, size_t mapped) {
  max_ = maximum;
  __atomic_store_n(&mapped_, mapped, __ATOMIC_RELEASE);
}

// The first of `units` free units, marked as used; UnitMap::kNowhere if there is no room.
size_t SpanHeap::take_units(size_t units, bool& is_zero) {
  const size_t unit = units_.find(units);
  if (unit == UnitMap::kNowhere) return unit;
  const size_t end = (unit + units) * kSpanUnit;
  if (end > mapped_) {
    // Fewer, larger steps; if they do not fit, as little as possible.
    const size_t wanted = std::min(max_, end + std::clamp(end / 8, kMinGrowth, kMaxSpan));
    if (memory_.grow(wanted))
      __atomic_store_n(&mapped_, wanted, __ATOMIC_RELEASE);
    else if (memory_.grow(end))
      __atomic_store_n(&mapped_, end, __ATOMIC_RELEASE);
    else
      return UnitMap::kNowhere;
  }
  units_.take(unit, units);
  is_zero = unit >= high_;
  high_ = std::max(high_, unit + units);
  used_ += units * kSpanUnit;
  for (size_t at = unit; at < unit + units; ++at) {
    if (entries_[at].start == Entry::kKept) kept_ -= kSpanUnit;
    entries_[at].start = 0;
  }
  return unit;
}

Span SpanHeap::allocate(size_t bytes) {
  const KeepErrno keep;
  const Locked locked(lock_);
  if (!locked) return {};
  free_deferred();
  // Not all at the same line of a page, which would be one cache set.
  const size_t start = starts_++ * 5 % kLinesOfPage * kLine;
  const size_t units = round_up(bytes + start, kSpanUnit) / kSpanUnit;
  bool is_zero = false;
  const size_t unit = bytes > kMaxSpan ? UnitMap::kNowhere : take_units(units, is_zero);
  if (unit == UnitMap::kNowhere) {
    ++counts_.refusals;
    return {};
  }
  entries_[unit] = {static_cast<uint32_t>(units), static_cast<uint16_t>(start), 0};
  count(units * kSpanUnit);
  return {reinterpret_cast<void*>(memory_.begin() + unit * kSpanUnit + start), is_zero};
}

void SpanHeap::count(size_t bytes) {
  ++counts_.allocations;
  counts_.live += bytes;
  counts_.peak_live = std::max(counts_.peak_live, counts_.live);
}

bool SpanHeap::make_ring(Ring& ring, uint32_t number, size_t bytes) {
  const size_t units = round_up(bytes, kSpanUnit) / kSpanUnit;
  bool is_zero = false;
  const size_t unit = take_units(units, is_zero);
  if (unit == UnitMap::kNowhere) return false;
  for (size_t at = unit; at < unit + units; ++at)
    entries_[at] = {0, 0, static_cast<uint16_t>(number + 1)};
  ring.begin = memory_.begin() + unit * kSpanUnit;
  ring.bytes = units * kSpanUnit;
  const bool coloured = has_coloured_rings();
  if (coloured) used_ -= ring.bytes;  // most of it has no memory
  ring.runs.reset(ring.bytes / kSystemPage,
                  coloured ? ReuseRing::Kind::kEmpty : ReuseRing::Kind::kFree);
  return true;
}

void SpanHeap::colour_rings(size_t ring_bytes, size_t kept) { coloured_ = {ring_bytes, kept}; }

SpanHeap::Part SpanHeap::coloured_ring(uint32_t number) {
  const Locked locked(lock_);
  if (!locked) return {};
  Ring& ring = rings_[number];
  if (ring.bytes == 0 && !make_ring(ring, number, coloured_.ring_bytes)) return {};
  return {ring.begin, ring.bytes};
}

SpanHeap::Part SpanHeap::take_empty(uint32_t number, size_t most) {
  const Locked locked(lock_);
  if (!locked) return {};
  Ring& ring = rings_[number];
  const size_t pages = std::min(ring.wanted_pages, most / kSystemPage);
  if (pages == 0) return {};
  ring.wanted_pages = 0;
  const size_t first = ring.runs.take_empty(pages);
  if (first == ReuseRing::kNowhere) return {};
  return {ring.begin + first * kSystemPage, pages * kSystemPage};
}

bool SpanHeap::supply(uint32_t number, uintptr_t begin, size_t bytes) {
  const Locked locked(lock_);
  if (!locked) return false;
  Ring& ring = rings_[number];
  const size_t first = (begin - ring.begin) / kSystemPage;
  const size_t taken = ring.runs.pages_at(first) * kSystemPage;
  const bool partly = bytes < taken;
  if (partly) madvise(reinterpret_cast<void*>(begin + bytes), taken - bytes, MADV_DONTNEED);
  if (bytes == 0 || (partly && !ring.runs.drain_behind(first, bytes / kSystemPage))) {
    madvise(reinterpret_cast<void*>(begin), bytes, MADV_DONTNEED);
    ring.runs.drain(first);
  } else {
    ring.runs.free(first);
  }
  return true;
}

Span SpanHeap::allocate_confined(uint32_t number, size_t ring_bytes, size_t bytes) {
  const KeepErrno keep;
  const Locked locked(lock_);
  if (!locked) return {};
  free_deferred();
  Ring& ring = rings_[number];
  if (has_coloured_rings()) ring_bytes = coloured_.ring_bytes;
  if (ring.bytes == 0 && !make_ring(ring, number, ring_bytes)) {
    ++counts_.unfit;
    return {};
  }
  const size_t pages = round_up(bytes, kSystemPage) / kSystemPage;
  const size_t page = ring.runs.allocate(pages);
  if (page == ReuseRing::kNowhere) {
    ring.wanted_pages = std::min(ring.wanted_pages + pages, ring.bytes / kSystemPage);
    ++counts_.unfit;
    return {};
  }
  ++counts_.confined;
  count(pages * kSystemPage);
  auto* p = reinterpret_cast<void*>(ring.begin + page * kSystemPage);
  Entry& entry = entry_of(p);
  entry.size = static_cast<uint32_t>(pages);
  entry.start = static_cast<uint16_t>(offset_of(p) % kSpanUnit);
  return {p, false};
}

void SpanHeap::free(void* p) {
  const KeepErrno keep;
  const Locked locked(lock_);
  if (!locked) return free_later(p);
  free_deferred();
  free_locked(p);
}

void SpanHeap::free_locked(void* p) {
  Entry& entry = entry_of(p);
  if (entry.size == 0 || offset_of(p) % kSpanUnit != entry.start) return;
  counts_.live -= entry.bytes();
  ++counts_.freed;
  if (entry.ring == 0) {
    free_units(offset_of(p) / kSpanUnit, entry.size);
  } else {
    Ring& ring = rings_[entry.ring - 1];
    const size_t page = (reinterpret_cast<uintptr_t>(p) - ring.begin) / kSystemPage;
    free_confined(ring, page, entry.bytes());
  }
  entry.size = 0;
}

// A ring that is not coloured keeps its memory.
void SpanHeap::free_confined(Ring& ring, size_t page, size_t bytes) {
  if (!has_coloured_rings() || ring.runs.free_pages() * kSystemPage + bytes <= coloured_.kept) {
    ring.runs.free(page);
    return;
  }
  ring.runs.drain(page);
  madvise(reinterpret_cast<void*>(ring.begin + page * kSystemPage), bytes, MADV_DONTNEED);
}

void SpanHeap::free_units(size_t unit, size_t units) {
  const size_t bytes = units * kSpanUnit;
  units_.release(unit, units);
  used_ -= bytes;
  const bool keeps = kept_ + bytes <= std::max(kMinKept, used_ / kKeptShare) ||
                     !discard(memory_.begin() + unit * kSpanUnit, bytes);
  kept_ += keeps ? bytes : 0;
  for (size_t at = unit; at < unit + units; ++at)
    entries_[at] = {0, keeps ? Entry::kKept : uint16_t{0}, 0};
}

// If the table is full, the span is lost.
void SpanHeap::free_later(void* p) {
  for (std::atomic<void*>& slot : freed_later_) {
    void* empty = nullptr;
    if (!slot.compare_exchange_strong(empty, p, std::memory_order_release)) continue;
    deferred_.fetch_add(1, std::memory_order_release);
    return;
  }
}

void SpanHeap::free_deferred() {
  if (deferred_.load(std::memory_order_acquire) == 0) return;
  deferred_.store(0, std::memory_order_relaxed);
  for (std::atomic<void*>& slot : freed_later_)
    if (void* p = slot.exchange(nullptr, std::memory_order_acquire)) free_locked(p);
}

size_t SpanHeap::usable_size(const void* p) const {
  const Entry& entry = entry_of(p);
  if (entry.size == 0 || offset_of(p) % kSpanUnit != entry.start) return 0;
  return entry.ring == 0 ? entry.bytes() - entry.start : entry.bytes();
}

SpanCounts SpanHeap::counts() const { return counts_; }

SpanBytes SpanHeap::bytes() const {
  const auto read = [](const auto& number) { return __atomic_load_n(&number, __ATOMIC_RELAXED); };
  SpanBytes sum{read(counts_.allocations) - read(counts_.freed), read(counts_.live), read(used_),
                read(kept_), read(high_) * kSpanUnit};
  if (deferred_.load(std::memory_order_relaxed) == 0) return sum;
  for (const std::atomic<void*>& slot : freed_later_) {
    const void* p = slot.load(std::memory_order_relaxed);
    const size_t size = p == nullptr ? 0 : entry_of(p).bytes();
    if (size == 0 || size > sum.live) continue;
    sum.live -= size;
    --sum.spans;
  }
  return sum;
}

size_t SpanHeap::purge() {
  const KeepErrno keep;
  size_t purged = 0;
  for (size_t unit = 0; unit != UnitMap::kNowhere;) {
    // Not held in between, so that other threads wait for one part at most.
    const Locked locked(lock_);
    if (!locked) return purged;
    free_deferred();
    unit = purge_part(unit, purged);
  }
  return purged;
}

// Purges the first run of kept units from that one on, or the first units of it. Returns the unit
// behind it, or UnitMap::kNowhere if there is none.
size_t SpanHeap::purge_part(size_t unit, size_t& purged) {
  const auto is_kept = [&](size_t at) {
    return at < high_ && entries_[at].size == 0 && entries_[at].start == Entry::kKept;
  };
  if (kept_ == 0) return UnitMap::kNowhere;
  while (unit < high_ && !is_kept(unit)) ++unit;
  if (unit >= high_) return UnitMap::kNowhere;
  const size_t begin = unit;
  while (unit - begin < kPurgedAtOnce && is_kept(unit)) ++unit;
  const size_t bytes = (unit - begin) * kSpanUnit;
  if (!discard(memory_.begin() + begin * kSpanUnit, bytes)) return unit;
  for (size_t at = begin; at < unit; ++at) entries_[at].start = 0;
  kept_ -= bytes;
  purged += bytes;
  return unit;
}

}  // namespace halo::runtime
