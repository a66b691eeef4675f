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
                           Tables tables) {
  thread_ = thread;
  group_ = group;
  tables_ = tables;
  reuse_ = settings.reuse;
  mixed_ = is_mixed(settings);
  huge_pages_ = (settings.flags & plan::kGroupHugePages) != 0;
  layout_ = PageLayout(settings);
}

// Returns nullptr if memory is refused.
BlockCache* GroupHeap::cache_for(uint32_t block) {
  BlockCache*& cache = tables_.caches[class_number(block)];
  if (cache != &no_cache) return cache;
  auto* made = static_cast<BlockCache*>(thread_->metadata(sizeof(BlockCache)));
  if (made == nullptr) return nullptr;
  const bool reuses = reuse_ == plan::Reuse::kNewestFirst;
  made->initialise(size_class(block), first_cache_, reuses ? &range_ : nullptr);
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
  void* p = uses_bump(bytes) ? allocate_mixed(bytes) : nullptr;
  if (p == nullptr) p = allocate_equal(size_class(bytes));
  if (p != nullptr) return prepared(p);
  ++refusals_;
  return nullptr;
}

// Returns nullptr if single-size pages must serve.
void* GroupHeap::allocate_mixed(uint32_t bytes) {
  BlockCache* cache = cache_for(bytes);
  if (cache == nullptr) return nullptr;
  if (void* p = take_cached(*cache)) return p;
  // As on the fast path: a program gets the same blocks on either.
  if (void* p = take_block(*tables_.serving[class_number(bytes)])) return p;
  if (void* p = cache->bump_fast()) return p;
  if (thread_->drain_remote())
    if (void* p = take_cached(*cache)) return p;
  if (cache->flushed() != 0) enlarge(*cache);
  cache->count_empty();
  return bump_mixed(*cache);
}

// Whether a block that was cut starts at `p`, in this single-size page.
bool GroupHeap::starts_block(const Page& page, const void* p) {
  if (page.heap == nullptr || p >= run_next_of(page)) return false;
  const PageLayout& layout = page.heap->layout();
  const uint32_t first = layout.first(arena.link_of(page), page.block);
  const auto offset = static_cast<uint32_t>(static_cast<const char*>(p) - arena.memory_of(page));
  return layout.has_start(first, offset, page.block);
}

bool GroupHeap::looks_free(const void* p) {
  const auto* block = static_cast<const Block*>(p);
  if (arena.page_of(p).block == 0 && !arena.is_used(p)) return true;
  if (arena.page_of(p).block != 0 && block->is_linked_in_page()) return true;
  return block->is_free();
}

bool GroupHeap::may_be_in_use(const void* p) {
  const Page& page = arena.page_of(p);
  return (page.block == 0 || starts_block(page, p)) && !looks_free(p);
}

size_t GroupHeap::size_of(const Page& page, const void* p) {
  if (page.block != 0) return page.block;
  return static_cast<size_t>(Starts(page).next_after(p) - static_cast<const char*>(p));
}

// The program may have copied a link, with the rest of a free block, to the start of a used one.
void GroupHeap::deallocate(Page& page, void* p) {
  const auto* block = static_cast<const Block*>(p);
  const bool may_be_copied = page.block != 0 && reinterpret_cast<uintptr_t>(p) % kGranule == 0 &&
                             block->is_linked_in_page();
  if (may_be_copied ? !starts_block(page, p) || is_listed(page, block) : !may_be_in_use(p)) return;
  if (page.block != 0) {
    if (put_block(page, p)) settle(page);
    return;
  }
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

// Returns a block of a mixed-size page to it.
[[gnu::always_inline]] inline void GroupHeap::return_to_page(Page& page, void* p, uint32_t bytes) {
  // The page of a block that was freed twice may belong to another heap now.
  if (page.heap != this || page.block != 0 || !PageBits::move_to_free(page, p)) return;
  returned_bytes_ += bytes;
  --page.mixed.used;
  range_.count_free(*this, page, bytes, reuse_ == plan::Reuse::kNewestFirst);
}

void GroupHeap::deallocate_to_page(Page& page, void* p) {
  if (page.block != 0) return deallocate(page, p);
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
  }
  for (unsigned number = 0; number < ThreadHeap::classes(); ++number) stop_serving(number);
  leave_empty_page();
}

// Returns a page without blocks; nullptr if no memory is available.
Page* GroupHeap::add_page() {
  observe_growth(group_);
  Page* page = arena.acquire(huge_pages_ ? PageKind::kHuge : PageKind::kNormal);
  if (page == nullptr) return nullptr;
  arena.bits_of(*page)->free = 0;  // a first access that reads would fault twice
  page->heap = this;
  set_bump_offset(*page, 0);
  page->queued = false;
  ++pages_;
  resident_ += page->touched;
  return page;
}

// The page's bitmaps must be clear, and it must not be queued.
void GroupHeap::drop_page(Page& page) {
  --pages_;
  resident_ -= page.touched;
  page.heap = nullptr;
  page.block = 0;  // the fast path of free then asks for used blocks, of which it has none
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

uint64_t GroupHeap::used_mixed_bytes() const {
  return range_.cut_bytes() - __atomic_load_n(&returned_bytes_, __ATOMIC_RELAXED);
}

uint64_t GroupHeap::live_mixed_bytes() const {
  uint64_t cached = 0;
  const BlockCache* cache = __atomic_load_n(&first_cache_, __ATOMIC_ACQUIRE);
  for (; cache != nullptr; cache = cache->next()) cached += cache->bytes();
  const uint64_t used = used_mixed_bytes();
  return used > cached ? used - cached : 0;
}

uint64_t GroupHeap::live_bytes() const {
  uint64_t sum = live_mixed_bytes();
  for (uintptr_t i = 0; i < arena.page_limit(); ++i) {
    const Page& page = arena.page_at(i);
    if (__atomic_load_n(&page.heap, __ATOMIC_RELAXED) == this && page.block != 0)
      sum += live_bytes_of(page);
  }
  return sum;
}

}  // namespace halo::runtime
