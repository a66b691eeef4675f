// Pages of equal blocks: laid out, and taken from in the order of addresses.
#include <algorithm>

#include "runtime/block_spacing.h"
#include "runtime/free_block.h"
#include "runtime/group_heap.h"
#include "runtime/page_bits.h"

namespace halo::runtime {
namespace {

// Pages with something free that one request looks at.
constexpr int most_pages = 8;
// Bytes of blocks that it takes: their memory may be new, and they may not be asked for.
constexpr std::size_t most_taken = 16 * 1024;

}  // namespace

// Fills the cache to a half, at most. False where no memory is to be had.
bool GroupHeap::refill(BlockCache& cache) {
  const std::size_t wanted = std::min(cache.capacity() / 2, 1 + most_taken / cache.block());
  std::size_t taken = 0;
  for (int i = 0; i < most_pages && taken < wanted; ++i) {
    Page* page = cache.pages().front();
    if (page == nullptr && taken == 0) page = add_equal_page(cache);
    if (page == nullptr) break;
    taken += take_blocks(*page, cache, wanted - taken);
  }
  cache.reverse_newest(taken);
  return taken != 0;
}

// At most so many of a page's blocks that are free, then of those that are not cut yet.
std::size_t GroupHeap::take_blocks(Page& page, BlockCache& cache, std::size_t most) {
  PageBits bits(page);
  std::size_t taken = bits.take(most, [&](void* p) { cache.push(p); });
  const BlockSpacing spacing = BlockSpacing::of(page.block);
  const std::uint32_t first = first_offset(arena.link_of(page), page.block);
  char* const memory = arena.memory_of(page);
  std::uint32_t next = page.carved * granule;
  for (; taken < most && next + page.block <= page_size; ++taken) {
    char* p = memory + next;
    bits.add_out(p);
    static_cast<Block*>(static_cast<void*>(p))->mark_freed();
    cache.push(p);
    next = first + spacing.next(next - first);
  }
  if (next != page.carved * granule) {
    set_carved(page, next);
    account_touched(page);
  }
  page.out += static_cast<std::uint32_t>(taken);
  taken_bytes_ += taken * page.block;
  if (page.free_words == 0 && next + page.block > page_size) cache.pages().remove(page);
  return taken;
}

Page* GroupHeap::add_equal_page(BlockCache& cache) {
  Page* page = add_page();
  if (page == nullptr) return nullptr;
  const std::uint32_t block = cache.block(), first = first_offset(arena.link_of(*page), block);
  page->block = block;
  set_carved(*page, first);
  page->cache = &cache;
  page->thread.store(thread_, std::memory_order_release);
  cache.pages().push_back(*page);
  return page;
}

}  // namespace halo::runtime
