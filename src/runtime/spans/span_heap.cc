#include "runtime/spans/span_heap.h"

#include <sys/mman.h>

#include <algorithm>

#include "base/keep_errno.h"
#include "runtime/pages/page.h"

namespace halo::runtime {
namespace {

constexpr size_t line = 64;
constexpr size_t lines_of_page = system_page / line;
constexpr size_t min_kept = size_t{16} << 20;  // bytes of free units in memory
constexpr size_t kept_share = 8;               // likewise, of those in use
constexpr size_t purged_at_once = 32;          // units
constexpr size_t min_growth = size_t{4} << 20;
// The arena and Tidy's memory are where the first attempts lead, and need room to grow.
constexpr unsigned first_attempt = 3;
constexpr unsigned last_attempt = 6;

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
  const size_t units = bytes / span_unit;
  entries_ = map_table<Entry>(units);
  states_ = map_table<uint32_t>(units);
  rings_ = map_table<Ring>(max_rings);
  if (entries_ == nullptr || states_ == nullptr || rings_ == nullptr || !units_.reserve(units))
    return false;
  for (unsigned attempt = first_attempt; attempt <= last_attempt; ++attempt) {
    const uintptr_t at = ranges::find_room(bytes, attempt);
    if (at == 0) break;
    memory_.set(at, 0, PROT_READ | PROT_WRITE);
    if (!memory_.grow(span_unit)) continue;
    set_size(bytes, span_unit);
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

// The first of `units` free units, marked as used; UnitMap::nowhere if there is no room.
size_t SpanHeap::take_units(size_t units, bool& is_zero) {
  const size_t unit = units_.find(units);
  if (unit == UnitMap::nowhere) return unit;
  const size_t end = (unit + units) * span_unit;
  if (end > mapped_) {
    // Fewer, larger steps; if they do not fit, as little as possible.
    const size_t wanted = std::min(max_, end + std::clamp(end / 8, min_growth, max_span));
    if (memory_.grow(wanted))
      __atomic_store_n(&mapped_, wanted, __ATOMIC_RELEASE);
    else if (memory_.grow(end))
      __atomic_store_n(&mapped_, end, __ATOMIC_RELEASE);
    else
      return UnitMap::nowhere;
  }
  units_.take(unit, units);
  is_zero = unit >= high_;
  high_ = std::max(high_, unit + units);
  used_ += units * span_unit;
  for (size_t at = unit; at < unit + units; ++at) {
    if (entries_[at].start == Entry::kept) kept_ -= span_unit;
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
  const size_t start = starts_++ * 5 % lines_of_page * line;
  const size_t units = round_up(bytes + start, span_unit) / span_unit;
  bool is_zero = false;
  const size_t unit = bytes > max_span ? UnitMap::nowhere : take_units(units, is_zero);
  if (unit == UnitMap::nowhere) {
    ++counts_.refusals;
    return {};
  }
  entries_[unit] = {static_cast<uint32_t>(units), static_cast<uint16_t>(start), 0};
  count(units * span_unit);
  return {reinterpret_cast<void*>(memory_.begin() + unit * span_unit + start), is_zero};
}

void SpanHeap::count(size_t bytes) {
  ++counts_.allocations;
  counts_.live += bytes;
  counts_.peak_live = std::max(counts_.peak_live, counts_.live);
}

bool SpanHeap::make_ring(Ring& ring, uint32_t number, size_t bytes) {
  const size_t units = round_up(bytes, span_unit) / span_unit;
  bool is_zero = false;
  const size_t unit = take_units(units, is_zero);
  if (unit == UnitMap::nowhere) return false;
  for (size_t at = unit; at < unit + units; ++at)
    entries_[at] = {0, 0, static_cast<uint16_t>(number + 1)};
  ring.begin = memory_.begin() + unit * span_unit;
  ring.bytes = units * span_unit;
  const bool coloured = has_coloured_rings();
  if (coloured) used_ -= ring.bytes;  // most of it has no memory
  ring.runs.reset(ring.bytes / system_page,
                  coloured ? ReuseRing::Kind::empty : ReuseRing::Kind::free);
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
  const size_t pages = std::min(ring.wanted_pages, most / system_page);
  if (pages == 0) return {};
  ring.wanted_pages = 0;
  const size_t first = ring.runs.take_empty(pages);
  if (first == ReuseRing::nowhere) return {};
  return {ring.begin + first * system_page, pages * system_page};
}

bool SpanHeap::supply(uint32_t number, uintptr_t begin, size_t bytes) {
  const Locked locked(lock_);
  if (!locked) return false;
  Ring& ring = rings_[number];
  const size_t first = (begin - ring.begin) / system_page;
  const size_t taken = ring.runs.pages_at(first) * system_page;
  const bool partly = bytes < taken;
  if (partly) madvise(reinterpret_cast<void*>(begin + bytes), taken - bytes, MADV_DONTNEED);
  if (bytes == 0 || (partly && !ring.runs.drain_behind(first, bytes / system_page))) {
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
  const size_t pages = round_up(bytes, system_page) / system_page;
  const size_t page = ring.runs.allocate(pages);
  if (page == ReuseRing::nowhere) {
    ring.wanted_pages = std::min(ring.wanted_pages + pages, ring.bytes / system_page);
    ++counts_.unfit;
    return {};
  }
  ++counts_.confined;
  count(pages * system_page);
  auto* p = reinterpret_cast<void*>(ring.begin + page * system_page);
  Entry& entry = entry_of(p);
  entry.size = static_cast<uint32_t>(pages);
  entry.start = static_cast<uint16_t>(offset_of(p) % span_unit);
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
  if (entry.size == 0 || offset_of(p) % span_unit != entry.start) return;
  counts_.live -= entry.bytes();
  ++counts_.freed;
  if (entry.ring == 0) {
    free_units(offset_of(p) / span_unit, entry.size);
  } else {
    Ring& ring = rings_[entry.ring - 1];
    const size_t page = (reinterpret_cast<uintptr_t>(p) - ring.begin) / system_page;
    free_confined(ring, page, entry.bytes());
  }
  entry.size = 0;
}

// A ring that is not coloured keeps its memory.
void SpanHeap::free_confined(Ring& ring, size_t page, size_t bytes) {
  if (!has_coloured_rings() || ring.runs.free_pages() * system_page + bytes <= coloured_.kept) {
    ring.runs.free(page);
    return;
  }
  ring.runs.drain(page);
  madvise(reinterpret_cast<void*>(ring.begin + page * system_page), bytes, MADV_DONTNEED);
}

void SpanHeap::free_units(size_t unit, size_t units) {
  const size_t bytes = units * span_unit;
  units_.release(unit, units);
  used_ -= bytes;
  const bool keeps = kept_ + bytes <= std::max(min_kept, used_ / kept_share) ||
                     !discard(memory_.begin() + unit * span_unit, bytes);
  kept_ += keeps ? bytes : 0;
  for (size_t at = unit; at < unit + units; ++at)
    entries_[at] = {0, keeps ? Entry::kept : uint16_t{0}, 0};
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
  if (entry.size == 0 || offset_of(p) % span_unit != entry.start) return 0;
  return entry.ring == 0 ? entry.bytes() - entry.start : entry.bytes();
}

SpanCounts SpanHeap::counts() const { return counts_; }

SpanBytes SpanHeap::bytes() const {
  const auto read = [](const auto& number) { return __atomic_load_n(&number, __ATOMIC_RELAXED); };
  SpanBytes sum{read(counts_.allocations) - read(counts_.freed), read(counts_.live), read(used_),
                read(kept_), read(high_) * span_unit};
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
  for (size_t unit = 0; unit != UnitMap::nowhere;) {
    // Not held in between, so that other threads wait for one part at most.
    const Locked locked(lock_);
    if (!locked) return purged;
    free_deferred();
    unit = purge_part(unit, purged);
  }
  return purged;
}

// Purges the first run of kept units from that one on, or the first units of it. Returns the unit
// behind it, or UnitMap::nowhere if there is none.
size_t SpanHeap::purge_part(size_t unit, size_t& purged) {
  const auto is_kept = [&](size_t at) {
    return at < high_ && entries_[at].size == 0 && entries_[at].start == Entry::kept;
  };
  if (kept_ == 0) return UnitMap::nowhere;
  while (unit < high_ && !is_kept(unit)) ++unit;
  if (unit >= high_) return UnitMap::nowhere;
  const size_t begin = unit;
  while (unit - begin < purged_at_once && is_kept(unit)) ++unit;
  const size_t bytes = (unit - begin) * span_unit;
  if (!discard(memory_.begin() + begin * span_unit, bytes)) return unit;
  for (size_t at = begin; at < unit; ++at) entries_[at].start = 0;
  kept_ -= bytes;
  purged += bytes;
  return unit;
}

}  // namespace halo::runtime
