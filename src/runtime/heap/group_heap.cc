// Serving and freeing blocks, as far as it is the same for both page layouts.
#include "runtime/heap/group_heap.h"

#include <algorithm>

#include "runtime/heap/thread_heap.h"
#include "runtime/pages/free_block.h"
#include "runtime/pages/page_bits.h"

namespace halo::runtime {
namespace {

// Initial and maximum capacity of a cache. It grows as blocks are flushed to pages and needed
// again.
constexpr size_t kFirstCapacity = 32;
constexpr size_t kMaxCachedBytes = 64 * 1024;
constexpr size_t kMinCapacity = 8;  // minimum capacity for large blocks

// After freeing this many blocks or bytes in a row, a program gets few of them cached: each cached
// block may keep a page from being released.
constexpr size_t kManyBlocks = 4096;
constexpr size_t kManyBytes = 1024 * 1024;
constexpr size_t kReducedCapacity = 24;

// From this resident size on, a group that wants huge pages gets them: an unused part of one is
// then at most a twelfth of the group's memory.
constexpr uint64_t kHugeFrom = 12 * kSlabSize;

// The newest block that still has its mark; nullptr if none has.
void* take_cached(BlockCache& cache) {
  while (!cache.is_empty()) {
    void* p = cache.pop();
    if (static_cast<const Block*>(p)->is_marked_freed()) return p;
    if (kCheckingBuild) report_overwritten(p);
  }
  return nullptr;
}

constexpr size_t max_capacity_for(uint32_t block) {
  return std::clamp(kMaxCachedBytes / block, kMinCapacity, BlockCache::kMaxCached);
}

}  // namespace

void GroupHeap::initialise(ThreadHeap* thread, uint32_t group, const plan::Group& settings,
                           BlockCache** caches) {
  thread_ = thread;
  group_ = group;
  caches_ = caches;
  reuse_ = settings.reuse;
  mixed_ = (settings.flags & plan::kGroupBySize) == 0;
  huge_pages_ = (settings.flags & plan::kGroupHugePages) != 0;
  layout_ = PageLayout(settings);
}

// Returns nullptr if memory is refused.
BlockCache* GroupHeap::cache_for(uint32_t block) {
  BlockCache*& cache = caches_[class_number(block)];
  if (cache != &no_cache) return cache;
  auto* made = static_cast<BlockCache*>(thread_->metadata(sizeof(BlockCache)));
  if (made == nullptr) return nullptr;
  const bool reuses_mixed = mixed_ && reuse_ == plan::Reuse::kNewestFirst;
  made->initialise(size_class(block), first_cache_, reuses_mixed ? &range_ : nullptr);
  __atomic_store_n(&first_cache_, made, __ATOMIC_RELEASE);
  return cache = made;
}

// Returns false if the capacity is at its maximum or memory is refused.
bool GroupHeap::enlarge(BlockCache& cache) {
  const size_t now = cache.capacity(), maximum = max_capacity_for(cache.block());
  if (now >= maximum) return false;
  const size_t more = std::min(now == 0 ? kFirstCapacity : 2 * now, maximum);
  if (more <= cache.room()) {
    cache.limit_to(more);
    return true;
  }
  auto** slots = static_cast<void**>(thread_->metadata(more * sizeof(void*)));
  if (slots != nullptr) cache.move_to(slots, more);
  return slots != nullptr;
}

// Prepares a block for the program: its memory must not look like a freed block.
void* GroupHeap::prepared(void* p) {
  static_cast<Block*>(p)->clear();
  ++allocations_;
  return p;
}

void* GroupHeap::allocate(uint32_t bytes) {
  BlockCache* cache = cache_for(bytes);
  if (cache == nullptr) return nullptr;
  if (void* p = take_cached(*cache)) return prepared(p);
  if (void* p = cache->bump()) return prepared(p);
  // As on the fast path: a program gets the same blocks on either.
  if (void* p = cache->bump_fast()) return prepared(p);
  if (thread_->drain_remote())
    if (void* p = take_cached(*cache)) return prepared(p);
  if (cache->flushed() != 0) enlarge(*cache);
  cache->count_empty();
  if (void* p = uses_bump(cache->block()) ? bump_mixed(*cache) : nullptr) return prepared(p);
  if (cache->capacity() != 0 || enlarge(*cache)) {
    while (refill(*cache)) {
      if (void* p = take_cached(*cache)) return prepared(p);
      if (void* p = cache->bump()) return prepared(p);
    }
  }
  ++refusals_;
  return nullptr;
}

bool GroupHeap::may_be_in_use(const void* p) {
  return arena.is_used(p) && !static_cast<const Block*>(p)->is_free();
}

size_t GroupHeap::size_of(const Page& page, const void* p) {
  if (page.block != 0) return page.block;
  return static_cast<size_t>(Starts(page).next_after(p) - static_cast<const char*>(p));
}

void GroupHeap::deallocate(Page& page, void* p) {
  if (!may_be_in_use(p)) return;
  const auto bytes = static_cast<uint32_t>(size_of(page, p));
  BlockCache* cache = reuse_ == plan::Reuse::kNewestFirst ? cache_for(bytes) : nullptr;
  if (cache == nullptr || cache->block() != bytes) return deallocate_to_page(page, p);
  if (cache->is_full()) {
    if (cache->capacity() == 0 && !enlarge(*cache)) return deallocate_to_page(page, p);
    if (cache->is_full()) flush_oldest(*cache, (cache->size() * 3 + 3) / 4);
  }
  static_cast<Block*>(p)->mark_freed();
  cache->push(p);
}

// After a block of a single-size page became free: queues the page, or releases it if no block is
// used.
void GroupHeap::release_or_queue(Page& page) {
  PageQueue& pages = page.cache->pages();
  if (page.used == 0) {
    if (page.queued) pages.remove(page);
    PageBits(page).clear_free();
    drop_page(page);
  } else if (!page.queued) {
    pages.push_back(page);
  }
}

[[gnu::always_inline]] inline void GroupHeap::return_to_page(Page& page, void* p, uint32_t bytes) {
  // The page of a block that was freed twice may belong to another heap now.
  if (page.heap != this || !PageBits::move_to_free(page, p)) return;
  returned_bytes_ += bytes;
  --page.used;
  if (page.block == 0) {
    const bool reuse = reuse_ == plan::Reuse::kNewestFirst;
    return range_.count_free(*this, page, bytes, reuse);
  }
  if (page.used == 0 || !page.queued) release_or_queue(page);
}

void GroupHeap::deallocate_to_page(Page& page, void* p) {
  if (!may_be_in_use(p)) return;
  static_cast<Block*>(p)->mark_freed();
  return_to_page(page, p, static_cast<uint32_t>(size_of(page, p)));
}

void GroupHeap::flush_oldest(BlockCache& cache, size_t count) {
  void** const oldest = cache.begin();
  for (size_t i = 0; i < count; ++i) {
    void* p = oldest[i];
    if (!static_cast<const Block*>(p)->is_marked_freed()) continue;
    return_to_page(arena.page_of(p), p, cache.block());
  }
  cache.drop_oldest(count);
  cache.count_flush(count);
  const bool many = cache.flushed() >= kManyBlocks || cache.flushed() * cache.block() >= kManyBytes;
  if (!many || cache.capacity() <= kReducedCapacity) return;
  if (cache.size() > kMinCapacity) flush_oldest(cache, cache.size() - kMinCapacity);
  cache.limit_to(kReducedCapacity);
}

void GroupHeap::flush() {
  for (BlockCache* cache = first_cache_; cache != nullptr; cache = cache->next()) {
    flush_oldest(*cache, cache->size());
    close_run(*cache);
  }
  leave_empty_page();
}

// Returns a page without blocks; nullptr if no memory is available.
Page* GroupHeap::add_page() {
  observe_growth(group_);
  const bool huge = huge_pages_ && resident_bytes() >= kHugeFrom;
  Page* page = arena.acquire(huge ? PageKind::kHuge : PageKind::kNormal);
  if (page == nullptr) return nullptr;
  arena.bits_of(*page)->free = 0;  // a first access that reads would fault twice
  page->heap = this;
  page->used = 0;
  set_bump_offset(*page, 0);
  page->free = page->reuse_from = 0;
  page->free_words = 0;
  page->queued = false;
  ++pages_;
  resident_ += page->touched;
  return page;
}

// The page's bitmaps must be clear, and it must not be queued.
void GroupHeap::drop_page(Page& page) {
  --pages_;
  resident_ -= page.touched;
  page.cache = nullptr;
  page.heap = nullptr;
  arena.release(page);
}

// Counts the system pages below the bump offset as touched.
void GroupHeap::account_touched(Page& page) {
  const size_t bytes = std::min(page.bump_offset * kGranule, kPageSize);
  const size_t touched = (bytes + kSystemPage - 1) / kSystemPage;
  if (touched <= page.touched) return;
  resident_ += touched - page.touched;
  page.touched = static_cast<uint8_t>(touched);
}

uint64_t GroupHeap::used_bytes() const {
  const uint64_t returned = __atomic_load_n(&returned_bytes_, __ATOMIC_RELAXED);
  return __atomic_load_n(&taken_bytes_, __ATOMIC_RELAXED) + range_.cut_bytes() - returned;
}

uint64_t GroupHeap::live_bytes() const {
  uint64_t cached = 0;
  const BlockCache* cache = __atomic_load_n(&first_cache_, __ATOMIC_ACQUIRE);
  for (; cache != nullptr; cache = cache->next()) cached += cache->bytes();
  const uint64_t used = used_bytes();
  return used > cached ? used - cached : 0;
}

}  // namespace halo::runtime
