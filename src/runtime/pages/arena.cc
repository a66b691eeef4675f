// The arena's range: placement, growth, opening slab by slab, and purging.
#include "runtime/pages/arena.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <bit>

#include "base/keep_errno.h"
#include "runtime/pages/free_block.h"

namespace halo::runtime {
namespace {

constexpr size_t kSmallestReserve = size_t{64} << 20;

size_t whole_pages(size_t bytes) { return (bytes + kSystemPage - 1) & ~(kSystemPage - 1); }

// The range grows by an eighth of its size, so that it wastes little address space.
constexpr size_t kMinGrowth = 2 * kSlabSize;
constexpr size_t kMaxGrowth = size_t{1} << 30;

// Limits the range to an eighth of a process's address space limit.
size_t affordable(size_t wanted) {
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return wanted;
  const size_t share = (limit.rlim_cur / 8) & ~(kSlabSize - 1);
  return share < wanted ? share : wanted;
}

void* reserve_range(size_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}

bool open_range(void* from, size_t bytes) {
  return mprotect(from, bytes, PROT_READ | PROT_WRITE) == 0;
}

// Whether links can be encoded between all of its addresses (free_block.h).
bool is_in_one_span(uintptr_t base, size_t bytes) {
  return (base ^ (base + bytes - 1)) >> kSpanShift == 0;
}

void raise(uint64_t& place, uint64_t to) {
  uint64_t now = __atomic_load_n(&place, __ATOMIC_RELAXED);
  while (now < to && !__atomic_compare_exchange_n(&place, &now, to, false, __ATOMIC_RELEASE,
                                                  __ATOMIC_RELAXED)) {
  }
}

}  // namespace

constinit Arena arena;

bool Arena::reserve(size_t wanted) {
  draw_link_secret();
  const size_t maximum = affordable(wanted) & ~(kSmallestReserve - 1);
  if (maximum < kSmallestReserve) return false;
  if (!begin_growing(maximum)) return reserve_fixed(maximum);
  // Opened now: it still serves if a later filter forbids system calls.
  is_first_open_ = open_range(reinterpret_cast<void*>(base_), kSlabSize);
  return true;
}

// The size of one table for a range of `bytes` bytes.
size_t Arena::table_bytes(Table table, size_t bytes) const {
  switch (table) {
    case Table::kPages:
      return whole_pages(bytes / kPageSize * sizeof(Page));
    case Table::kBits:
      return whole_pages(bytes / kGranule / 64 * sizeof(BlockBits));
    case Table::kSlabs:
      return whole_pages(bytes / kSlabSize * sizeof(Slab));
    case Table::kAvailable:
      return whole_pages((bytes / kSlabSize + 63) / 64 * sizeof(uint64_t));
    default:
      return whole_pages(bytes / kGranule / 8);
  }
}

size_t Arena::all_table_bytes(size_t bytes) const {
  size_t sum = 0;
  for (unsigned i = 0; i < kTableCount; ++i) sum += table_bytes(static_cast<Table>(i), bytes);
  return sum;
}

// Places the range and its tables behind it; `mapped` bytes of the range are mapped already.
void Arena::place(uintptr_t base, size_t maximum, size_t mapped) {
  base_ = base;
  max_ = maximum;
  memory_range_.set(base, mapped, PROT_NONE);
  uintptr_t begin[kTableCount], at = base + maximum;
  for (unsigned i = 0; i < kTableCount; ++i) {
    const auto table = static_cast<Table>(i);
    begin[i] = at;
    tables_[i].set(at, mapped == 0 ? 0 : table_bytes(table, mapped), PROT_READ | PROT_WRITE);
    at += table_bytes(table, maximum);
  }
  const auto of = [&](Table table) {
    return reinterpret_cast<void*>(begin[static_cast<unsigned>(table)]);
  };
  pages_ = static_cast<Page*>(of(Table::kPages));
  bits_ = static_cast<BlockBits*>(of(Table::kBits));
  bits_of_address_0_ =
      begin[static_cast<unsigned>(Table::kBits)] - base / (64 * kGranule) * sizeof(BlockBits);
  starts_of_address_0_ =
      begin[static_cast<unsigned>(Table::kStarts)] - base / (64 * kGranule) * sizeof(uint64_t);
  starts_ = static_cast<std::atomic<uint64_t>*>(of(Table::kStarts));
  pool_.place_at(static_cast<Slab*>(of(Table::kSlabs)),
                 static_cast<std::atomic<uint64_t>*>(of(Table::kAvailable)));
}

bool Arena::begin_growing(size_t maximum) {
  constexpr unsigned kAttempts = 4;
  for (unsigned attempt = 0; attempt < kAttempts; ++attempt) {
    const uintptr_t at = ranges::find_room(maximum + all_table_bytes(maximum), attempt);
    if (at == 0) return false;
    if (!is_in_one_span(at, maximum)) continue;
    place(at, maximum, 0);
    if (grow_to(kSlabSize)) return true;
  }
  return false;
}

// If the kernel does not map at the requested address, the range has a fixed size.
bool Arena::reserve_fixed(size_t wanted) {
  for (size_t want = wanted; want >= kSmallestReserve; want = want / 4 & ~(kSmallestReserve - 1)) {
    const size_t tables = all_table_bytes(want);
    void* range = reserve_range(kSlabSize + want + tables);
    if (range == nullptr) continue;
    const uintptr_t base = (reinterpret_cast<uintptr_t>(range) + kSlabSize - 1) & ~(kSlabSize - 1);
    if (!is_in_one_span(base, want) || !open_range(reinterpret_cast<void*>(base + want), tables)) {
      munmap(range, kSlabSize + want + tables);
      continue;
    }
    place(base, want, want);
    return grow_to(want);
  }
  return false;
}

// Returns false if no address space is left or another mapping is in the way.
bool Arena::grow() {
  const size_t now = bytes();
  if (now >= max_) return false;
  const size_t more = std::clamp((now / 8) & ~(kSlabSize - 1), kMinGrowth, kMaxGrowth);
  return grow_to(std::min(now + more, max_)) || grow_to(now + kSlabSize);
}

bool Arena::grow_to(size_t bytes) {
  for (unsigned i = 0; i < kTableCount; ++i)
    if (!tables_[i].grow(table_bytes(static_cast<Table>(i), bytes))) return false;
  if (!memory_range_.grow(bytes)) return false;
  // Last: other threads may already be calling `contains`, or growing the range further.
  raise(granule_limit_, bytes / kGranule);
  raise(page_limit_, bytes >> kPageShift);
  return true;
}

// Opens the next slab and adds its pages to the pool.
bool Arena::open_slab(PageKind kind) {
  uint32_t slab = slabs_opened_.load(std::memory_order_relaxed);
  do {
    while ((slab + 1) * kSlabPages > __atomic_load_n(&page_limit_, __ATOMIC_ACQUIRE))
      if (!grow()) return false;
  } while (!slabs_opened_.compare_exchange_weak(slab, slab + 1, std::memory_order_relaxed));
  void* memory = reinterpret_cast<void*>(base_ + slab * kSlabSize);
  if ((slab != 0 || !is_first_open_) && !open_range(memory, kSlabSize)) {
    // The next attempt tries the same slab, unless another thread has opened the one behind it.
    uint32_t opened = slab + 1;
    slabs_opened_.compare_exchange_strong(opened, slab, std::memory_order_relaxed);
    return false;
  }
  if (kind == PageKind::kHuge) huge_pages_.request(memory, kSlabSize);
  pool_.add(slab, kind);
  return true;
}

Page* Arena::take(PageKind kind) {
  const uint32_t number = pool_.take(kind);
  if (number == PagePool::kNone) return nullptr;
  Page& page = pages_[number];
  // A huge page is in memory as a whole once any of its pages is touched.
  if (kind == PageKind::kHuge) page.touched = kPageSize / kSystemPage;
  return &page;
}

Page* Arena::acquire(PageKind kind) {
  const KeepErrno keep;  // a failure here must not change the program's errno
  for (;;) {
    if (Page* page = take(kind)) return page;
    if (kind == PageKind::kHuge && !huge_pages_.wanted())
      kind = PageKind::kNormal;
    else if (!open_slab(kind))
      return take(kind);  // another thread may have opened a slab or released a page
  }
}

void Arena::release(Page& page) {
  page.thread.store(nullptr, std::memory_order_relaxed);
  const uint32_t number = link_of(page) - 1;
  pool_.put(number, page.touched != 0);
  const PageMask dirty = pool_.take_dirty(number / kSlabPages);
  if (dirty.pages != 0) purge(dirty);
}

size_t Arena::purge_free() {
  size_t purged = 0;
  for (uint32_t slab = 0; slab < pool_.slabs(); ++slab) {
    const PageMask dirty = pool_.take_dirty_of(slab);
    if (dirty.pages != 0) purged += purge(dirty);
  }
  return purged;
}

// Purges the pages of the mask, run by run. Returns the bytes of those that were purged.
size_t Arena::purge(PageMask mask) {
  const KeepErrno keep;
  const uint32_t first = mask.slab * kSlabPages;
  uint32_t refused = 0;
  for (uint32_t left = mask.pages; left != 0;) {
    const auto begin = static_cast<uint32_t>(std::countr_zero(left));
    const auto count = static_cast<uint32_t>(std::countr_one(left >> begin));
    const uint32_t run = (count == kSlabPages ? UINT32_MAX : (1u << count) - 1) << begin;
    left &= ~run;
    char* memory = memory_of(pages_[first + begin]);
    if (madvise(memory, count * kPageSize, MADV_DONTNEED) != 0) {
      refused |= run;
      continue;
    }
    for (uint32_t i = 0; i < count; ++i) pages_[first + begin + i].touched = 0;
  }
  pool_.put_purged(mask, refused);
  return static_cast<size_t>(std::popcount(mask.pages & ~refused)) * kPageSize;
}

}  // namespace halo::runtime
