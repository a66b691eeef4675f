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
// Bytes of freed blocks that it takes: they may not be asked for.
constexpr std::size_t most_taken = 16 * 1024;
// Bytes of blocks that were never in use and are made ready at once.
constexpr std::uint32_t most_run = 4 * 1024;

bool has_room(const Page& page) { return page.carved * granule + page.block <= page_size; }

}  // namespace

// Fills an empty cache with freed blocks, to a half at most, or makes a run ready. False where no
// memory is to be had.
bool GroupHeap::refill(BlockCache& cache) {
  const std::size_t wanted = std::min(cache.capacity() / 2, 1 + most_taken / cache.block());
  std::size_t taken = 0;
  for (int i = 0; i < most_pages && taken < wanted; ++i) {
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

// At most so many of a page's free blocks.
std::size_t GroupHeap::take_freed(Page& page, BlockCache& cache, std::size_t most) {
  const std::size_t taken = PageBits(page).take(most, [&](void* p) { cache.push(p); });
  page.out += static_cast<std::uint32_t>(taken);
  taken_bytes_ += taken * page.block;
  return taken;
}

// Makes some of the blocks ready that come next in a page with room, all steps between them alike.
// They count as out, but are not in the bitmap of what is: nobody has them to free.
void GroupHeap::open_run(Page& page, BlockCache& cache) {
  const BlockSpacing spacing = BlockSpacing::of(page.block);
  const std::uint32_t first = first_offset(arena.link_of(page), page.block);
  const std::uint32_t begin = page.carved * granule;
  const std::size_t room = std::min<std::size_t>(page_size - begin - page.block, most_run);
  const auto [count, behind] =
      spacing.row(begin - first, static_cast<std::uint32_t>(room) + spacing.step);
  char* const run = arena.memory_of(page) + begin;
  cache.set_run(run, run + count * spacing.step, spacing.step);
  set_carved(page, first + behind);
  account_touched(page);
  page.out += count;
  taken_bytes_ += std::uint64_t{count} * page.block;
  if (!has_room(page)) cache.pages().remove(page);
}

// Gives back what is left of a run, as if it had never been made ready.
void GroupHeap::close_run(BlockCache& cache) {
  char* const begin = cache.run_next();
  char* const end = cache.run_end();
  if (begin == end) return;
  Page& page = arena.page_of(begin);
  const auto count = static_cast<std::uint32_t>(end - begin) / BlockSpacing::of(page.block).step;
  page.out -= count;
  taken_bytes_ -= std::uint64_t{count} * page.block;
  cache.set_run(nullptr, nullptr, 0);
  set_carved(page, static_cast<std::size_t>(begin - arena.memory_of(page)));
  settle(page);
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
