// Mixed-size pages: blocks of different sizes in the order of their allocation.
#include <algorithm>

#include "runtime/heap/block_spacing.h"
#include "runtime/heap/group_heap.h"
#include "runtime/heap/thread_heap.h"
#include "runtime/pages/free_block.h"
#include "runtime/pages/page_bits.h"

namespace halo::runtime {
namespace {

// Larger blocks are served from single-size pages.
constexpr uint32_t kMaxBumpBytes = kPageSize / 8;

// Queued pages that one request scans at most.
constexpr int kMaxPages = 4;

// The amount of a page that must become free before the page is queued for reuse.
constexpr uint16_t kMinReuse = kPageSize / kGranule / 8;

// Maximum of free bytes between used blocks: a constant and a share of the used bytes. Beyond it, a
// group goes on with single-size pages.
constexpr uint64_t kMaxFree = 64 * 1024;
constexpr uint64_t kFreeShare = 12;

char* end_of(const Page& page) { return arena.memory_of(page) + kPageSize; }
char* bump_end(const Page& page) { return arena.memory_of(page) + page.bump_offset * kGranule; }

}  // namespace

void MixedRange::add_free(Page& page, char* p, size_t bytes) {
  PageBits(page).add_free(p);
  count_free(page, bytes);
}

void MixedRange::count_free(Page& page, size_t bytes) {
  page.mixed.free = static_cast<uint16_t>(page.mixed.free + bytes / kGranule);
  free_granules_ += bytes / kGranule;
}

// Removes the adjacent free blocks from `begin` to `end`.
void MixedRange::remove_free(Page& page, char* begin, char* end) {
  PageBits bits(page);
  const Starts starts(page);
  for (char* p = begin; p < end; p = starts.next_after(p)) bits.remove_free(p);
  const auto granules = static_cast<size_t>(end - begin) / kGranule;
  page.mixed.free = static_cast<uint16_t>(page.mixed.free - granules);
  free_granules_ -= granules;
}

char* MixedRange::bump(GroupHeap& heap, uint32_t bytes) {
  char* at = next_;
  const bool skip = bytes % 16 == 0 && reinterpret_cast<uintptr_t>(at) % 16 != 0;
  if (end_ - at < static_cast<ptrdiff_t>(bytes + (skip ? kGranule : 0))) return nullptr;
  Starts starts(*page_);
  if (skip) {
    add_free(*page_, at, kGranule);
    at += kGranule;
    starts.mark(at);
  }
  next_ = at + bytes;
  starts.mark(next_);
  arena.mark_used(at);
  ++page_->mixed.used;
  cut_bytes_ += bytes;
  account(heap);
  return at;
}

// Accounts for the rest of a page by whole system pages: the one that the bump pointer is in counts
// as cut and touched. The block-start bitmap has the exact end.
void MixedRange::account(GroupHeap& heap) {
  fast_end_ = end_;
  if (is_rest_) {
    const auto used = static_cast<size_t>(next_ - arena.memory_of(*page_));
    const size_t ahead = std::min((used / kSystemPage + 1) * kSystemPage, kPageSize);
    set_bump_offset(*page_, ahead);
    heap.account_touched(*page_);
    fast_end_ = arena.memory_of(*page_) + ahead;
  }
  if (fast_end_ == end_of(*page_))
    fast_end_ -= kGranule;  // a start at the page's end cannot be
                            // marked
}

bool MixedRange::enter_rest(uint32_t bytes) {
  if (end_of(*page_) - bump_end(*page_) < static_cast<ptrdiff_t>(bytes)) return false;
  next_ = bump_end(*page_);
  end_ = end_of(*page_);
  is_rest_ = true;
  Starts(*page_).mark(next_);
  return true;
}

// Enters the first run of free blocks from `from` on with at least `bytes`. The last run is
// coalesced with the uncut rest of the page.
bool MixedRange::enter_run(char* from, uint32_t bytes) {
  Page& page = *page_;
  const PageBits bits(page);
  Starts starts(page);
  char* const last = bump_end(page);
  char* begin = from < last ? bits.first_free_from(from) : nullptr;
  for (char* end = begin; begin != nullptr;
       begin = end < last ? bits.first_free_from(end) : nullptr) {
    for (end = begin; end < last && bits.is_free(end);) end = starts.next_after(end);
    if (end >= last) {
      if (end_of(page) - begin < static_cast<ptrdiff_t>(bytes)) return false;
      remove_free(page, begin, last);
      starts.clear_between(begin, end_of(page));
      set_bump_offset(page, static_cast<size_t>(begin - arena.memory_of(page)));
      return enter_rest(bytes);
    }
    if (end - begin < static_cast<ptrdiff_t>(bytes)) continue;
    remove_free(page, begin, end);
    starts.clear_between(begin, end);
    next_ = begin;
    end_ = end;
    is_rest_ = false;
    return true;
  }
  return enter_rest(bytes);
}

// Frees the rest of the range. Returns its end.
char* MixedRange::leave_run() {
  char* const end = end_;
  if (is_rest_)
    set_bump_offset(*page_, static_cast<size_t>(next_ - arena.memory_of(*page_)));
  else if (next_ < end_)
    add_free(*page_, next_, static_cast<size_t>(end_ - next_));
  next_ = end_ = fast_end_ = nullptr;
  return end;
}

void MixedRange::leave_page(GroupHeap& heap) {
  Page& page = *page_;
  page_ = nullptr;
  page.mixed.reuse_from = static_cast<uint16_t>(page.mixed.free + kMinReuse);
  if (page.mixed.used == 0) drop(heap, page);
}

void MixedRange::leave_empty_page(GroupHeap& heap) {
  if (page_ == nullptr || page_->mixed.used != 0) return;
  leave_run();
  leave_page(heap);
}

void MixedRange::drop(GroupHeap& heap, Page& page) {
  if (page.queued) pages_.remove(page);
  free_granules_ -= page.mixed.free;
  PageBits(page).clear_free();
  Starts(page).clear();
  heap.drop_page(page);
}

bool MixedRange::enter_new_page(GroupHeap& heap, uint32_t bytes) {
  Page* page = heap.add_page();
  if (page == nullptr) return false;
  page->block = 0;
  page->mixed = {heap.lists_, 0, 0, 0, 0};
  set_bump_offset(*page, first_offset(arena.link_of(*page), kGranule));
  page->thread.store(heap.thread_, std::memory_order_release);
  page_ = page;
  return enter_rest(bytes);
}

bool MixedRange::move_on(GroupHeap& heap, uint32_t bytes, bool may_add) {
  bytes += kGranule;  // for alignment
  if (page_ != nullptr) {
    if (enter_run(leave_run(), bytes)) return true;
    leave_page(heap);
  }
  for (int i = 0; i < kMaxPages; ++i) {
    page_ = pages_.front();
    if (page_ == nullptr) break;
    pages_.remove(*page_);
    if (enter_run(arena.memory_of(*page_), bytes)) return true;
    leave_page(heap);
  }
  page_ = nullptr;
  return may_add && enter_new_page(heap, bytes);
}

void MixedRange::count_free(GroupHeap& heap, Page& page, uint32_t bytes, bool reuse) {
  count_free(page, bytes);
  if (&page == page_) return;
  if (page.mixed.used == 0)
    drop(heap, page);
  else if (reuse && !page.queued && page.mixed.free >= page.mixed.reuse_from)
    pages_.push_back(page);
}

// If too many free bytes lie unused between used blocks, no more mixed-size pages are added.
bool GroupHeap::may_add_mixed_page() const {
  return reuse_ != plan::Reuse::kNewestFirst ||
         range_.free_bytes() <= kMaxFree + used_mixed_bytes() / kFreeShare;
}

bool GroupHeap::uses_bump(uint32_t bytes) const { return mixed_ && bytes <= kMaxBumpBytes; }

// Blocks whose size is a multiple of 16 are aligned to 16. Other blocks are cut off in pairs if the
// bump pointer is aligned, so that they leave no gaps; the second one goes to the list, if any.
//
// Returns nullptr if no mixed-size page is available.
void* GroupHeap::bump_mixed(FreeList* list, uint32_t size) {
  const uint32_t bytes = size_class(size);
  char* p = range_.bump(*this, bytes);
  while (p == nullptr) {
    if (!range_.move_on(*this, bytes, may_add_mixed_page())) return nullptr;
    p = range_.bump(*this, bytes);
  }
  const bool pairs = bytes % 16 != 0 && reinterpret_cast<uintptr_t>(p) % 16 == 0;
  if (pairs && list != nullptr)
    if (char* second = range_.bump(*this, bytes))
      if (put_listed(*list, second)) spill(*list);
  return p;
}

void GroupHeap::return_mixed(Page& page, Block* block, uint32_t bytes) {
  if (!PageBits::move_to_free(page, block)) return;
  block->link_in_page(list_end(), false);
  returned_bytes_ += bytes;
  --page.mixed.used;
  range_.count_free(*this, page, bytes, reuse_ == plan::Reuse::kNewestFirst);
}

}  // namespace halo::runtime
