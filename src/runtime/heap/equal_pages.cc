// Single-size pages: their layout, and the refill of caches from them.
#include <algorithm>

#include "runtime/heap/group_heap.h"
#include "runtime/pages/free_block.h"
#include "runtime/pages/page_bits.h"

namespace halo::runtime {
namespace {

// Pages with free blocks that one refill scans at most.
constexpr int kMaxPages = 8;
// Bytes of freed blocks that one refill takes at most: the program may not need them.
constexpr size_t kMaxTaken = 16 * 1024;
// Bytes of never used blocks in one run at most.
constexpr uint32_t kMaxRun = 4 * 1024;

bool has_room(const Page& page) { return page.bump_offset * kGranule + page.block <= kPageSize; }

}  // namespace

// Refills an empty cache with freed blocks, at most to a half, or opens a run. Returns false if no
// memory is available.
bool GroupHeap::refill(BlockCache& cache) {
  const size_t wanted = std::min(cache.capacity() / 2, 1 + kMaxTaken / cache.block());
  size_t taken = 0;
  for (int i = 0; i < kMaxPages && taken < wanted; ++i) {
    Page* page = cache.pages().front();
    if (page == nullptr) break;
    taken += take_freed(*page, cache, wanted - taken);
    if (page->free_words != 0) break;
    if (has_room(*page)) {
      if (taken != 0) break;
      open_run(*page, cache);
      return true;
    }
    cache.pages().remove(*page);
  }
  cache.reverse_newest(taken);
  if (taken != 0) return true;
  Page* page = add_equal_page(cache);
  if (page != nullptr) open_run(*page, cache);
  return page != nullptr;
}

// Takes at most `maximum` of a page's free blocks.
size_t GroupHeap::take_freed(Page& page, BlockCache& cache, size_t maximum) {
  const size_t taken = PageBits(page).take(maximum, [&](void* p) { cache.push(p); });
  page.used += static_cast<uint32_t>(taken);
  taken_bytes_ += taken * page.block;
  return taken;
}

// Opens a run of equally spaced blocks behind the cut part of a page with room. They count as used,
// but their bits are clear: no thread has received them, so a free of one is invalid.
void GroupHeap::open_run(Page& page, BlockCache& cache) {
  const uint32_t first = layout_.first(arena.link_of(page), page.block);
  const uint32_t begin = page.bump_offset * kGranule;
  const auto room = static_cast<uint32_t>(kPageSize) - begin - page.block;
  const auto [count, step, behind] = layout_.row(first, begin, std::min(room, kMaxRun), page.block);
  char* const run = arena.memory_of(page) + begin;
  cache.set_run(run, run + count * step, step);
  set_bump_offset(page, behind);
  account_touched(page);
  page.used += count;
  taken_bytes_ += uint64_t{count} * page.block;
  if (!has_room(page)) cache.pages().remove(page);
}

// Returns the rest of a run to its page, as if it had not been opened.
void GroupHeap::close_run(BlockCache& cache) {
  char* const begin = cache.run_next();
  char* const end = cache.run_end();
  if (begin == end) return;
  Page& page = arena.page_of(begin);
  const auto count = static_cast<uint32_t>(end - begin) / cache.run_step();
  page.used -= count;
  taken_bytes_ -= uint64_t{count} * page.block;
  cache.set_run(nullptr, nullptr, 0);
  set_bump_offset(page, static_cast<size_t>(begin - arena.memory_of(page)));
  release_or_queue(page);
}

Page* GroupHeap::add_equal_page(BlockCache& cache) {
  Page* page = add_page();
  if (page == nullptr) return nullptr;
  page->block = cache.block();
  set_bump_offset(*page, layout_.first(arena.link_of(*page), page->block));
  page->cache = &cache;
  page->thread.store(thread_, std::memory_order_release);
  cache.pages().push_back(*page);
  return page;
}

}  // namespace halo::runtime
