// Growth of the range, and the stack of free pages.
#include "tidy/page_memory.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "base/keep_errno.h"

namespace halo::tidy {
namespace {

constexpr uint64_t kSmallest = uint64_t{64} << 20;   // bytes of a range
constexpr uint32_t kMinGrowth = 32;                  // pages
constexpr uint32_t kMinDirty = 32;                   // free pages that are not purged
constexpr uint32_t kDirtyShare = 16;                 // and this share of the used ones
constexpr uint64_t kTableStep = uint64_t{64} << 10;  // bytes of the table
constexpr unsigned kAttempts = 4;                    // at addresses

// Twice the machine's memory, but at most an eighth of the limits on address space and data.
uint64_t wanted_bytes() {
  const uint64_t pages = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES));
  uint64_t wanted = 2 * pages * kSystemPage;
  for (const auto kind : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit;
    if (getrlimit(kind, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
      wanted = std::min<uint64_t>(wanted, limit.rlim_cur / 8);
  }
  return std::min(wanted, uint64_t{1} << 44) / kPageBytes * kPageBytes;
}

}  // namespace

constinit PageMemory page_memory;

bool PageMemory::open() {
  const KeepErrno keep;
  const uint64_t bytes = wanted_bytes();
  if (bytes < kSmallest) return false;
  const auto pages = static_cast<uint32_t>(bytes / kPageBytes);
  table_bytes_ = (pages * sizeof(Entry) + kSystemPage - 1) / kSystemPage * kSystemPage;
  // Not writable at first, so that it does not count as the process's data.
  void* const table = mmap(nullptr, pages * sizeof(Entry), PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (table == MAP_FAILED) return false;
  for (unsigned attempt = 0; attempt < kAttempts; ++attempt) {
    const uintptr_t at = ranges::find_room(bytes, attempt);
    if (at == 0) continue;
    range_.set(at, 0, PROT_READ | PROT_WRITE);
    if (!range_.grow(size_t{kMinGrowth} * kPageBytes)) continue;
    entries_ = static_cast<Entry*>(table);
    max_pages_ = pages;
    base_.store(at, std::memory_order_relaxed);
    return true;
  }
  // Somewhere else, if the address space is not the usual one: a smaller range, mapped as a whole.
  for (uint64_t size = bytes; size >= kSmallest; size /= 2) {
    void* const at = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) continue;
    range_.set(reinterpret_cast<uintptr_t>(at), size, PROT_READ | PROT_WRITE);
    entries_ = static_cast<Entry*>(table);
    max_pages_ = static_cast<uint32_t>(size / kPageBytes);
    base_.store(reinterpret_cast<uintptr_t>(at), std::memory_order_relaxed);
    return true;
  }
  munmap(table, pages * sizeof(Entry));
  return false;
}

uint32_t PageMemory::acquire(SharedHeap* heap) {
  uint32_t page = pop();
  if (page == kNone) page = add();
  if (page == kNone) return kNone;
  entries_[page].heap.store(heap, std::memory_order_release);
  used_.fetch_add(1, std::memory_order_relaxed);
  return page;
}

void PageMemory::release(uint32_t page, bool all) {
  Entry& entry = entries_[page];
  entry.heap.store(nullptr, std::memory_order_release);
  used_.fetch_sub(1, std::memory_order_relaxed);
  entry.dirty = true;
  if (has_many_dirty(all)) {
    const KeepErrno keep;
    entry.dirty = madvise(address_of(Place{page} * kPageBytes), kPageBytes, MADV_DONTNEED) != 0;
  }
  dirty_.fetch_add(entry.dirty, std::memory_order_relaxed);
  push(page);
}

bool PageMemory::has_many_dirty(bool all) {
  const uint32_t share = all ? 0 : used_.load(std::memory_order_relaxed) / kDirtyShare;
  return dirty_.load(std::memory_order_relaxed) >= std::max(kMinDirty, share);
}

uint32_t PageMemory::pop() {
  uint64_t head = free_.load(std::memory_order_acquire);
  while (static_cast<uint32_t>(head) != 0) {
    const uint32_t page = static_cast<uint32_t>(head) - 1;
    const uint64_t next = __atomic_load_n(&entries_[page].next, __ATOMIC_RELAXED);
    if (!free_.compare_exchange_weak(head, ((head >> 32) + 1) << 32 | next,
                                     std::memory_order_acquire))
      continue;
    dirty_.fetch_sub(entries_[page].dirty, std::memory_order_relaxed);
    return page;
  }
  return kNone;
}

void PageMemory::push(uint32_t page) {
  uint64_t head = free_.load(std::memory_order_relaxed);
  uint64_t with;
  do {
    __atomic_store_n(&entries_[page].next, static_cast<uint32_t>(head), __ATOMIC_RELAXED);
    with = ((head >> 32) + 1) << 32 | (page + 1);
  } while (!free_.compare_exchange_weak(head, with, std::memory_order_release,
                                        std::memory_order_relaxed));
}

// Makes the entry of that page writable. Threads may do so at the same time.
bool PageMemory::open_entries(uint32_t page) {
  const uint64_t bytes = (uint64_t{page} + 1) * sizeof(Entry);
  uint64_t open = open_bytes_.load(std::memory_order_acquire);
  if (bytes <= open) return true;
  const uint64_t wanted =
      std::min((bytes + kTableStep - 1) / kTableStep * kTableStep, table_bytes_);
  const KeepErrno keep;
  if (mprotect(entries_, wanted, PROT_READ | PROT_WRITE) != 0) return false;
  while (open < wanted &&
         !open_bytes_.compare_exchange_weak(open, wanted, std::memory_order_release)) {
  }
  return true;
}

// The next page of the range. The range grows by an eighth.
uint32_t PageMemory::add() {
  uint32_t count = count_.load(std::memory_order_relaxed);
  do {
    if (count == max_pages_) return kNone;
    const uint32_t step = std::max(kMinGrowth, count / 8 / kMinGrowth * kMinGrowth);
    const uint64_t pages = std::min(max_pages_, (count / step + 1) * step);
    const KeepErrno keep;
    if (!open_entries(count)) return kNone;
    if (!range_.grow(pages * kPageBytes) && !range_.grow((size_t{count} + 1) * kPageBytes))
      return kNone;
  } while (!count_.compare_exchange_weak(count, count + 1, std::memory_order_release,
                                         std::memory_order_relaxed));
  return count;
}

}  // namespace halo::tidy
