#include "runtime/pages/page_pool.h"

#include <time.h>

#include <bit>

namespace halo::runtime {
namespace {

// Slabs that one call of take_dirty scans at most.
constexpr uint32_t kMaxScanned = 64;

// Without a system call; the resolution may be some milliseconds.
uint64_t milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1'000'000;
}

constexpr uint32_t bit_of(uint32_t page) { return 1u << (page % kSlabPages); }

void raise(std::atomic<uint32_t>& place, uint32_t to) {
  uint32_t now = place.load(std::memory_order_relaxed);
  while (now < to && !place.compare_exchange_weak(now, to, std::memory_order_release)) {
  }
}

void lower(std::atomic<uint32_t>& place, uint32_t to) {
  uint32_t now = place.load(std::memory_order_relaxed);
  while (now > to && !place.compare_exchange_weak(now, to, std::memory_order_relaxed)) {
  }
}

}  // namespace

void PagePool::place_at(Slab* slabs, std::atomic<uint64_t>* available) {
  slabs_ = slabs;
  available_ = available;
}

void PagePool::add(uint32_t slab, PageKind kind) {
  slabs_[slab].kind = kind;
  slabs_[slab].free.store(UINT32_MAX, std::memory_order_release);
  raise(end_, slab + 1);
  mark_available(slab);
}

void PagePool::mark_available(uint32_t slab) {
  const uint64_t bit = uint64_t{1} << (slab % 64);
  std::atomic<uint64_t>& word = available_[slab / 64];
  if ((word.load(std::memory_order_relaxed) & bit) == 0)
    word.fetch_or(bit, std::memory_order_release);
  lower(lowest_[static_cast<uint32_t>(slabs_[slab].kind)], slab);
}

// The lowest slab of that kind, from `from` on, that may have a free page.
uint32_t PagePool::find(PageKind kind, uint32_t from) const {
  const uint32_t end = end_.load(std::memory_order_acquire);
  for (uint32_t slab = from; slab < end;) {
    const uint64_t bits = available_[slab / 64].load(std::memory_order_acquire) >> (slab % 64);
    if (bits == 0) {
      slab = (slab / 64 + 1) * 64;
      continue;
    }
    slab += static_cast<uint32_t>(std::countr_zero(bits));
    if (slab < end && slabs_[slab].kind == kind) return slab;
    ++slab;
  }
  return kNone;
}

uint32_t PagePool::take_from(uint32_t number) {
  Slab& slab = slabs_[number];
  uint32_t free = slab.free.load(std::memory_order_acquire);
  while (free != 0) {
    const uint32_t dirty = free & slab.dirty.load(std::memory_order_relaxed);
    const auto at = static_cast<uint32_t>(std::countr_zero(dirty != 0 ? dirty : free));
    const uint32_t bit = 1u << at;
    if (!slab.free.compare_exchange_weak(free, free & ~bit, std::memory_order_acq_rel,
                                         std::memory_order_acquire))
      continue;
    if ((slab.dirty.fetch_and(~bit, std::memory_order_relaxed) & bit) != 0)
      dirty_.fetch_sub(1, std::memory_order_relaxed);
    else
      limit_.count_acquired();
    return number * kSlabPages + at;
  }
  return kNone;
}

uint32_t PagePool::take(PageKind kind) {
  std::atomic<uint32_t>& lowest = lowest_[static_cast<uint32_t>(kind)];
  uint32_t from = lowest.load(std::memory_order_relaxed);
  for (;;) {
    const uint32_t slab = find(kind, from);
    if (slab == kNone) return kNone;
    const uint32_t page = take_from(slab);
    if (page != kNone) {
      used_.fetch_add(1, std::memory_order_relaxed);
      return page;
    }
    // The slab is full. A thread that frees a page of it meanwhile sets the bit again, or this
    // re-read finds its page.
    available_[slab / 64].fetch_and(~(uint64_t{1} << (slab % 64)), std::memory_order_seq_cst);
    if (slabs_[slab].free.load(std::memory_order_seq_cst) != 0) {
      mark_available(slab);
      continue;
    }
    uint32_t expected = slab;
    lowest.compare_exchange_strong(expected, slab + 1, std::memory_order_relaxed);
    from = slab + 1;
  }
}

void PagePool::put(uint32_t page, bool dirty) {
  Slab& slab = slabs_[page / kSlabPages];
  if (dirty) {
    slab.dirty.fetch_or(bit_of(page), std::memory_order_relaxed);
    dirty_.fetch_add(1, std::memory_order_relaxed);
  }
  used_.fetch_sub(1, std::memory_order_relaxed);
  slab.free.fetch_or(bit_of(page), std::memory_order_seq_cst);
  mark_available(page / kSlabPages);
}

// Once the limit is exceeded, purging continues until half of it is left, so that one system call
// purges several pages. Concurrent callers may disagree; the error is at most one slab.
bool PagePool::has_too_many_dirty() {
  const uint64_t maximum = limit_.pages(used());
  const uint64_t now = dirty_.load(std::memory_order_relaxed);
  const bool shrinks = shrinks_.load(std::memory_order_relaxed);
  bool too_many = now > (shrinks ? maximum / 2 : maximum);
  if (too_many && !shrinks) {
    limit_.exceed(milliseconds());
    too_many = now > limit_.pages(used());
  }
  if (too_many != shrinks) shrinks_.store(too_many, std::memory_order_relaxed);
  return too_many;
}

// Takes the dirty pages of a slab; `were` are those that may be in memory. A slab of huge pages
// must be free as a whole.
PageMask PagePool::claim_dirty(uint32_t number, uint32_t& were) {
  Slab& slab = slabs_[number];
  uint32_t free = slab.free.load(std::memory_order_acquire);
  for (;;) {
    const uint32_t dirty = free & slab.dirty.load(std::memory_order_relaxed);
    if (dirty == 0 || (slab.kind == PageKind::kHuge && free != UINT32_MAX)) return {number, 0};
    const uint32_t pages = slab.kind == PageKind::kHuge ? free : dirty;
    if (!slab.free.compare_exchange_weak(free, free & ~pages, std::memory_order_acq_rel,
                                         std::memory_order_acquire))
      continue;
    were = slab.dirty.fetch_and(~pages, std::memory_order_relaxed) & pages;
    dirty_.fetch_sub(static_cast<uint64_t>(std::popcount(were)), std::memory_order_relaxed);
    return {number, pages};
  }
}

// Likewise, since the limit is exceeded.
PageMask PagePool::claim_excess(uint32_t slab) {
  uint32_t dirty = 0;
  const PageMask found = claim_dirty(slab, dirty);
  if (found.pages != 0) limit_.count_purged(static_cast<uint64_t>(std::popcount(dirty)));
  return found;
}

PageMask PagePool::take_dirty(uint32_t last) {
  if (!has_too_many_dirty()) return {last, 0};
  if (slabs_[last].free.load(std::memory_order_relaxed) == UINT32_MAX) {
    const PageMask found = claim_excess(last);
    if (found.pages != 0) return found;
  }
  const uint32_t end = end_.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < kMaxScanned && i < end; ++i) {
    const uint32_t slab = scan_from_.fetch_add(1, std::memory_order_relaxed) % end;
    if (slabs_[slab].dirty.load(std::memory_order_relaxed) == 0) continue;
    const PageMask found = claim_excess(slab);
    if (found.pages != 0) return found;
  }
  // No slab qualifies: those of huge pages are partly in use, or the kernel refuses to purge.
  shrinks_.store(false, std::memory_order_relaxed);
  return {last, 0};
}

void PagePool::put_purged(PageMask mask, uint32_t dirty) {
  slabs_[mask.slab].dirty.fetch_or(dirty, std::memory_order_relaxed);
  dirty_.fetch_add(static_cast<uint64_t>(std::popcount(dirty)), std::memory_order_relaxed);
  slabs_[mask.slab].free.fetch_or(mask.pages, std::memory_order_seq_cst);
  mark_available(mask.slab);
}

}  // namespace halo::runtime
