// Single-size pages: their layout, and which of them serve.
#include "runtime/heap/equal_pages.h"

#include <algorithm>

#include "runtime/heap/group_heap.h"
#include "runtime/heap/thread_heap.h"

namespace halo::runtime {
namespace {

// Bytes of never used blocks in one run at most.
constexpr uint32_t kMaxRun = 4 * 1024;

bool has_room(const Page& page) { return page.bump_offset * kGranule + page.block <= kPageSize; }

}  // namespace

constinit Page no_page{.equal = {1, nullptr, 0, 1, 0, 0},
                       .thread = nullptr,
                       .heap = nullptr,
                       .block = 0,
                       .next = 0,
                       .previous = 0,
                       .bump_offset = 0,
                       .touched = 0,
                       .queued = false};

// Gives the list of freed blocks up if the first one's link was overwritten.
void GroupHeap::drop_overwritten(Page& page) {
  const auto* newest = reinterpret_cast<const Block*>(page.equal.freed);
  if (page.equal.freed % 2 != 0 || newest->is_linked_in_page()) return;
  if (kCheckingBuild) report_overwritten(reinterpret_cast<const void*>(page.equal.freed));
  page.equal.freed = no_block_of(page);
  if (page.equal.countdown < kDamaged) page.equal.countdown += kDamaged;
}

// Opens a run of equally spaced blocks behind the cut part. Returns false if the page has no room.
bool GroupHeap::open_run(Page& page) {
  if (!has_room(page)) return false;
  const uint32_t first = layout_.first(arena.link_of(page), page.block);
  const uint32_t begin = page.bump_offset * kGranule;
  const auto room = static_cast<uint32_t>(kPageSize) - begin - page.block;
  const auto [count, step, behind] = layout_.row(first, begin, std::min(room, kMaxRun), page.block);
  char* const run = arena.memory_of(page) + begin;
  set_run_next(page, run);
  page.equal.run_end = low_half(run + count * step);
  page.equal.step = static_cast<uint16_t>(step / kGranule);
  set_bump_offset(page, behind);
  account_touched(page);
  return true;
}

Page* GroupHeap::add_equal_page(uint32_t block) {
  Page* page = add_page();
  if (page == nullptr) return nullptr;
  page->block = block;
  const uint32_t first = layout_.first(arena.link_of(*page), block);
  set_bump_offset(*page, first);
  char* const begin = arena.memory_of(*page) + first;
  page->equal = {.freed = no_block_of(*page),
                 .run_next = begin,
                 .run_end = low_half(begin),
                 .countdown = 0,
                 .hidden = 0,
                 .step = 0};
  page->thread.store(thread_, std::memory_order_release);
  return page;
}

// Lets another page with free blocks or room serve that class. Returns false if no memory is
// available.
bool GroupHeap::serve_from_next_page(unsigned number, uint32_t block) {
  PageQueue& queue = tables_.queues[number];
  Page* page = queue.front();
  if (page != nullptr)
    queue.remove(*page);
  else
    page = add_equal_page(block);
  if (page == nullptr) return false;
  ++page->equal.countdown;
  page->equal.hidden = -1;
  tables_.serving[number] = page;
  return true;
}

// The page of that class, if any, no longer serves.
void GroupHeap::stop_serving(unsigned number) {
  Page& page = *tables_.serving[number];
  if (&page == &no_page) return;
  tables_.serving[number] = &no_page;
  const bool has_more = page.equal.freed % 2 == 0 || has_room(page) ||
                        low_half(page.equal.run_next) != page.equal.run_end;
  page.equal.hidden = 0;
  if (--page.equal.countdown == 0) return drop_page(page);
  if (has_more) return tables_.queues[number].push_back(page);
  page.equal.hidden = static_cast<int16_t>(page.equal.countdown - 1);
  page.equal.countdown = 1;
}

void GroupHeap::settle(Page& page) {
  if (page.equal.hidden < 0) {  // a block was freed twice
    page.equal.countdown += kDamaged;
    return;
  }
  if (page.equal.hidden != 0) {
    page.equal.countdown = static_cast<uint32_t>(page.equal.hidden);
    page.equal.hidden = 0;
    return tables_.queues[class_number(page.block)].push_back(page);
  }
  if (page.queued) tables_.queues[class_number(page.block)].remove(page);
  drop_page(page);
}

void* GroupHeap::allocate_equal(uint32_t block) {
  const unsigned number = class_number(block);
  for (;;) {
    Page& page = *tables_.serving[number];
    if (void* p = take_block(page)) return p;
    drop_overwritten(page);
    if (&page != &no_page && open_run(page)) continue;
    if (thread_->drain_remote()) continue;
    stop_serving(number);
    if (!serve_from_next_page(number, block)) return nullptr;
  }
}

// Whether the block is in the page's list.
bool GroupHeap::is_listed(const Page& page, const Block* block) {
  uintptr_t at = page.equal.freed;
  for (size_t i = 0; i < kPageSize / kGranule && at % 2 == 0; ++i) {
    const auto* each = reinterpret_cast<const Block*>(at);
    if (each == block) return true;
    if (!each->is_linked_in_page()) return false;
    at ^= each->step_in_page();
  }
  return false;
}

uint64_t GroupHeap::live_bytes_of(const Page& page) {
  const uint32_t countdown = __atomic_load_n(&page.equal.countdown, __ATOMIC_RELAXED);
  const int hidden = __atomic_load_n(&page.equal.hidden, __ATOMIC_RELAXED);
  return uint64_t{countdown % kDamaged + static_cast<uint32_t>(hidden)} * page.block;
}

}  // namespace halo::runtime
