// Single-size pages.
//
// One page of each size class serves blocks that were never used, in runs of up to 4 KiB. Blocks
// that a full list returns are linked in their page. A page without used blocks is released, unless
// it serves. (Leijen, Zorn and de Moura, "Mimalloc: Free List Sharding in Action", section 2, but
// behind lists of each class.)
//
// A single-size page is in the queue of its class if it has returned blocks, or room and does not
// serve.
#include <algorithm>

#include "runtime/heap/group_heap.h"
#include "runtime/heap/thread_heap.h"

namespace halo::runtime {
namespace {

// Bytes of never used blocks in one run at most.
constexpr uint32_t kMaxRun = 4 * 1024;

bool has_room(const Page& page) { return page.bump_offset * kGranule + page.block <= kPageSize; }

// Makes the rest of the run uncut again.
void end_run(FreeList& list, Page& page) {
  const uint16_t left = page.equal.run_left;
  if (left == 0) return;
  page.equal.run_left = 0;
  page.equal.used = static_cast<uint16_t>(page.equal.used - left);
  list.out -= left;
  set_bump_offset(page, static_cast<size_t>(run_next_of(page) - arena.memory_of(page)));
}

}  // namespace

constinit Page no_page{};

// Opens a run of equally spaced blocks behind the cut part. Returns false if the page has no room.
bool GroupHeap::open_run(FreeList& list, Page& page) {
  if (!has_room(page)) return false;
  const uint32_t first = layout_.first(arena.link_of(page), page.block);
  const uint32_t begin = page.bump_offset * kGranule;
  const auto room = static_cast<uint32_t>(kPageSize) - begin - page.block;
  const auto [count, step, behind] = layout_.row(first, begin, std::min(room, kMaxRun), page.block);
  set_run_next(page, arena.memory_of(page) + begin);
  page.equal.run_left = static_cast<uint16_t>(count);
  page.equal.step = static_cast<uint16_t>(step / kGranule);
  page.equal.used = static_cast<uint16_t>(page.equal.used + count);
  list.out += count;
  set_bump_offset(page, behind);
  account_touched(page);
  return true;
}

bool GroupHeap::add_equal_page(FreeList& list) {
  Page* page = add_page();
  if (page == nullptr) return false;
  page->list = &list;
  page->block = list.block;
  const uint32_t first = layout_.first(arena.link_of(*page), list.block);
  set_bump_offset(*page, first);
  page->equal = {list_end(), arena.memory_of(*page) + first, 0, 0, 0, 0};
  page->thread.store(thread_, std::memory_order_release);
  list.serve_from(arena.link_of(*page));
  return true;
}

// The page, if any, serves no unused blocks from now on.
void GroupHeap::stop_serving(FreeList& list) {
  if (list.serving == 0) return;
  Page& page = list.serving_page();
  list.serve_from(0);
  end_run(list, page);
  if (page.equal.used == 0)
    drop_equal_page(list, page);
  else if (has_room(page) && !page.queued)
    list.pages.push_back(page);
}

void GroupHeap::drop_equal_page(FreeList& list, Page& page) {
  if (page.queued) list.pages.remove(page);
  drop_page(page);
}

// Moves the blocks of the page that has had one for longest to the empty list; or lets a page with
// room serve. Returns false if there is no such page.
bool GroupHeap::refill(FreeList& list) {
  Page* const page = list.pages.front();
  if (page == nullptr) return false;
  list.pages.remove(*page);
  const uint16_t count = page->equal.free;
  if (count == 0) {
    stop_serving(list);
    list.serve_from(arena.link_of(*page));
    return true;
  }
  list.newest = page->equal.freed;
  list.full = std::max(list.half, static_cast<uint16_t>(count + 1));
  list.room = uint32_t{list.full} - count;
  list.out += count;
  page->equal.freed = list_end();
  page->equal.free = 0;
  page->equal.used = static_cast<uint16_t>(page->equal.used + count);
  page->phase = !page->phase;
  return true;
}

void* GroupHeap::allocate_equal(uint32_t block) {
  FreeList* const list = list_for(block);
  if (list == nullptr) return nullptr;
  for (;;) {
    if (void* p = take_again(*list)) return p;
    if (thread_->drain_remote()) continue;
    grow(*list);
    if (refill(*list)) continue;
    if (list->serving != 0 && open_run(*list, list->serving_page())) continue;
    stop_serving(*list);
    if (!add_equal_page(*list)) return nullptr;
  }
}

// Whether a block that was cut starts at `p`, in this single-size page.
bool GroupHeap::starts_block(const Page& page, const void* p) {
  if (page.heap == nullptr || p >= run_next_of(page)) return false;
  const PageLayout& layout = page.heap->layout();
  const uint32_t first = layout.first(arena.link_of(page), page.block);
  const auto offset = static_cast<uint32_t>(static_cast<const char*>(p) - arena.memory_of(page));
  return layout.has_start(first, offset, page.block);
}

// After the return of a block to its page.
void GroupHeap::settle(FreeList& list, Page& page) {
  if (page.equal.used == 0 && arena.link_of(page) != list.serving)
    drop_equal_page(list, page);
  else if (!page.queued)
    list.pages.push_back(page);
}

}  // namespace halo::runtime
