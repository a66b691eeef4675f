// Serving a block and taking it back, but for what only pages of one layout do.
#include "runtime/group_heap.h"

#include <algorithm>

#include "runtime/free_block.h"
#include "runtime/page_bits.h"
#include "runtime/thread_heap.h"

namespace halo::runtime {
namespace {

// Blocks that a cache holds, at first; and at most, once blocks have gone to pages and back again
// and again.
constexpr std::size_t first_capacity = 32;
constexpr std::size_t most_capacity = 1024;
constexpr std::size_t most_cached_bytes = 64 * 1024;
constexpr std::size_t few = 8;  // but so many in any case

// A program that frees so many blocks in a row, or bytes, gets few of them cached: each may keep a
// page from being free.
constexpr std::size_t many_blocks = 4096;
constexpr std::size_t many_bytes = 1024 * 1024;
constexpr std::size_t still_cached = 24;

// A group that has as much in a thread goes on with huge pages, if it wants any: one that is hardly
// used is a twelfth of it, at most.
constexpr std::uint64_t huge_from = 12 * slab_size;

// The newest block that still has its mark; nullptr: there is none.
void* take_cached(BlockCache& cache) {
  while (!cache.is_empty()) {
    void* p = cache.pop();
    if (static_cast<const Block*>(p)->is_marked_freed()) return p;
    if (checking_build) report_overwritten(p);
  }
  return nullptr;
}

constexpr std::size_t most_capacity_for(std::uint32_t block) {
  return std::clamp(most_cached_bytes / block, few, most_capacity);
}

}  // namespace

void GroupHeap::initialise(ThreadHeap* thread, std::uint32_t group, const plan::Group& settings,
                           BlockCache** caches) {
  thread_ = thread;
  group_ = group;
  caches_ = caches;
  reuse_ = settings.reuse;
  mixed_ = (settings.flags & plan::group_by_size) == 0;
  huge_pages_ = (settings.flags & plan::group_huge_pages) != 0;
}

// nullptr where memory is refused.
BlockCache* GroupHeap::cache_for(std::uint32_t block) {
  BlockCache*& cache = caches_[class_number(block)];
  if (cache != &no_cache) return cache;
  auto* made = static_cast<BlockCache*>(thread_->metadata(sizeof(BlockCache)));
  if (made == nullptr) return nullptr;
  const bool reuses_mixed = mixed_ && reuse_ == plan::Reuse::newest_first;
  made->initialise(size_class(block), first_cache_, reuses_mixed ? &range_ : nullptr);
  __atomic_store_n(&first_cache_, made, __ATOMIC_RELEASE);
  return cache = made;
}

// False where it can hold as much as it may, or memory is refused.
bool GroupHeap::enlarge(BlockCache& cache) {
  const std::size_t now = cache.capacity(), most = most_capacity_for(cache.block());
  if (now >= most) return false;
  const std::size_t more = std::min(now == 0 ? first_capacity : 2 * now, most);
  if (more <= cache.room()) {
    cache.limit_to(more);
    return true;
  }
  auto** slots = static_cast<void**>(thread_->metadata(more * sizeof(void*)));
  if (slots != nullptr) cache.move_to(slots, more);
  return slots != nullptr;
}

// Of a block that the program gets: what lies in it must not look as if it were free.
void* GroupHeap::given(void* p) {
  static_cast<Block*>(p)->clear();
  ++allocations_;
  return p;
}

void* GroupHeap::allocate(std::uint32_t bytes) {
  BlockCache* cache = cache_for(bytes);
  if (cache == nullptr) return nullptr;
  if (void* p = take_cached(*cache)) return given(p);
  if (void* p = cache->cut()) return given(p);
  if (thread_->drain_remote())
    if (void* p = take_cached(*cache)) return given(p);
  if (cache->flushed() != 0) enlarge(*cache);
  cache->note_empty();
  if (void* p = carves(cache->block()) ? carve(*cache) : nullptr) return given(p);
  if (cache->capacity() != 0 || enlarge(*cache)) {
    while (refill(*cache)) {
      if (void* p = take_cached(*cache)) return given(p);
      if (void* p = cache->cut()) return given(p);
    }
  }
  ++refusals_;
  return nullptr;
}

bool GroupHeap::may_be_in_use(const void* p) {
  return arena.is_out(p) && !static_cast<const Block*>(p)->is_free();
}

std::size_t GroupHeap::size_of(const Page& page, const void* p) {
  if (page.block != 0) return page.block;
  return static_cast<std::size_t>(Starts(page).next_after(p) - static_cast<const char*>(p));
}

void GroupHeap::deallocate(Page& page, void* p) {
  if (!may_be_in_use(p)) return;
  const auto bytes = static_cast<std::uint32_t>(size_of(page, p));
  BlockCache* cache = reuse_ == plan::Reuse::newest_first ? cache_for(bytes) : nullptr;
  if (cache == nullptr || cache->block() != bytes) return deallocate_to_page(page, p);
  if (cache->is_full()) {
    if (cache->capacity() == 0 && !enlarge(*cache)) return deallocate_to_page(page, p);
    if (cache->is_full()) flush_oldest(*cache, (cache->size() * 3 + 3) / 4);
  }
  static_cast<Block*>(p)->mark_freed();
  cache->push(p);
}

// Of equal blocks, after one has become free: the page goes to the queue, or is given up if none is
// out.
void GroupHeap::settle(Page& page) {
  PageQueue& pages = page.cache->pages();
  if (page.out == 0) {
    if (page.queued) pages.remove(page);
    PageBits(page).clear_free();
    drop_page(page);
  } else if (!page.queued) {
    pages.push_back(page);
  }
}

[[gnu::always_inline]] inline void GroupHeap::give_to_page(Page& page, void* p,
                                                           std::uint32_t bytes) {
  // Of a block that was freed twice, the page may be somebody else's by now.
  if (page.heap != this || !PageBits::move_to_free(page, p)) return;
  given_bytes_ += bytes;
  --page.out;
  if (page.block == 0) {
    const bool reuse = reuse_ == plan::Reuse::newest_first;
    return range_.note_free(*this, page, bytes, reuse);
  }
  if (page.out == 0 || !page.queued) settle(page);
}

void GroupHeap::deallocate_to_page(Page& page, void* p) {
  if (!may_be_in_use(p)) return;
  static_cast<Block*>(p)->mark_freed();
  give_to_page(page, p, static_cast<std::uint32_t>(size_of(page, p)));
}

void GroupHeap::flush_oldest(BlockCache& cache, std::size_t count) {
  void** const oldest = cache.begin();
  for (std::size_t i = 0; i < count; ++i) {
    void* p = oldest[i];
    if (!static_cast<const Block*>(p)->is_marked_freed()) continue;
    give_to_page(arena.page_of(p), p, cache.block());
  }
  cache.forget_oldest(count);
  cache.note_flush(count);
  const bool many = cache.flushed() >= many_blocks || cache.flushed() * cache.block() >= many_bytes;
  if (!many || cache.capacity() <= still_cached) return;
  if (cache.size() > few) flush_oldest(cache, cache.size() - few);
  cache.limit_to(still_cached);
}

void GroupHeap::flush() {
  for (BlockCache* cache = first_cache_; cache != nullptr; cache = cache->next()) {
    flush_oldest(*cache, cache->size());
    close_run(*cache);
  }
  leave_empty_page();
}

// Without blocks so far; nullptr where no memory is to be had.
Page* GroupHeap::add_page() {
  observe_growth(group_);
  const bool huge = huge_pages_ && resident_bytes() >= huge_from;
  Page* page = arena.acquire(huge ? PageKind::huge : PageKind::normal);
  if (page == nullptr) return nullptr;
  arena.bits_of(*page)->free = 0;  // a first access that reads would be a fault more
  page->heap = this;
  page->out = 0;
  set_carved(*page, 0);
  page->free = page->worth_while = 0;
  page->free_words = 0;
  page->queued = false;
  ++pages_;
  resident_ += page->touched;
  return page;
}

// Its bitmaps are clear, and it is in no queue.
void GroupHeap::drop_page(Page& page) {
  --pages_;
  resident_ -= page.touched;
  page.cache = nullptr;
  page.heap = nullptr;
  arena.release(page);
}

// The page was cut into blocks up to `carved`.
void GroupHeap::account_touched(Page& page) {
  const std::size_t bytes = std::min(page.carved * granule, page_size);
  const std::size_t touched = (bytes + system_page - 1) / system_page;
  if (touched <= page.touched) return;
  resident_ += touched - page.touched;
  page.touched = static_cast<std::uint8_t>(touched);
}

std::uint64_t GroupHeap::out_bytes() const {
  const std::uint64_t given = __atomic_load_n(&given_bytes_, __ATOMIC_RELAXED);
  return __atomic_load_n(&taken_bytes_, __ATOMIC_RELAXED) + range_.cut_bytes() - given;
}

std::uint64_t GroupHeap::live_bytes() const {
  std::uint64_t cached = 0;
  const BlockCache* cache = __atomic_load_n(&first_cache_, __ATOMIC_ACQUIRE);
  for (; cache != nullptr; cache = cache->next()) cached += cache->bytes();
  const std::uint64_t out = out_bytes();
  return out > cached ? out - cached : 0;
}

}  // namespace halo::runtime
