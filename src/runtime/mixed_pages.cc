// Pages of blocks of any size, in the order of their allocation.
#include <algorithm>

#include "runtime/block_spacing.h"
#include "runtime/free_block.h"
#include "runtime/group_heap.h"
#include "runtime/page_bits.h"
#include "runtime/thread_heap.h"

namespace halo::runtime {
namespace {

// Larger blocks have pages of their own.
constexpr std::uint32_t most_carved = page_size / 8;

// Pages that one request looks at.
constexpr int most_pages = 4;

// That much of a page has to become free before it is looked at again.
constexpr std::uint16_t worth_a_look = page_size / granule / 8;

// What may be free between blocks in use, and a part of what is out, before a group goes on with
// pages of equal blocks.
constexpr std::uint64_t most_free = 64 * 1024;
constexpr std::uint64_t free_share = 12;

char* end_of(const Page& page) { return arena.memory_of(page) + page_size; }
char* carved_end(const Page& page) { return arena.memory_of(page) + page.carved * granule; }

}  // namespace

void MixedRange::add_free(Page& page, char* p, std::size_t bytes) {
  PageBits(page).add_free(p);
  count_free(page, bytes);
}

void MixedRange::count_free(Page& page, std::size_t bytes) {
  page.free = static_cast<std::uint16_t>(page.free + bytes / granule);
  free_granules_ += bytes / granule;
}

// Of free blocks that lie side by side from `begin` to `end`.
void MixedRange::remove_free(Page& page, char* begin, char* end) {
  PageBits bits(page);
  const Starts starts(page);
  for (char* p = begin; p < end; p = starts.next_after(p)) bits.remove_free(p);
  const auto granules = static_cast<std::size_t>(end - begin) / granule;
  page.free = static_cast<std::uint16_t>(page.free - granules);
  free_granules_ -= granules;
}

char* MixedRange::cut(GroupHeap& heap, std::uint32_t bytes) {
  char* at = next_;
  const bool skip = bytes % 16 == 0 && reinterpret_cast<std::uintptr_t>(at) % 16 != 0;
  if (end_ - at < static_cast<std::ptrdiff_t>(bytes + (skip ? granule : 0))) return nullptr;
  Starts starts(*page_);
  if (skip) {
    add_free(*page_, at, granule);
    at += granule;
    starts.mark(at);
  }
  next_ = at + bytes;
  starts.mark(next_);
  arena.mark_out(at);
  ++page_->out;
  cut_bytes_ += bytes;
  account(heap);
  return at;
}

// Of what was not cut yet, the system's page that the range goes on in counts as cut, and as
// touched: the starts tell better.
void MixedRange::account(GroupHeap& heap) {
  quick_end_ = end_;
  if (is_rest_) {
    const auto cut = static_cast<std::size_t>(next_ - arena.memory_of(*page_));
    const std::size_t ahead = std::min((cut / system_page + 1) * system_page, page_size);
    set_carved(*page_, ahead);
    heap.account_touched(*page_);
    quick_end_ = arena.memory_of(*page_) + ahead;
  }
  if (quick_end_ == end_of(*page_)) quick_end_ -= granule;  // whose start cannot be marked
}

bool MixedRange::enter_rest(std::uint32_t bytes) {
  if (end_of(*page_) - carved_end(*page_) < static_cast<std::ptrdiff_t>(bytes)) return false;
  next_ = carved_end(*page_);
  end_ = end_of(*page_);
  is_rest_ = true;
  Starts(*page_).mark(next_);
  return true;
}

// The first run of free blocks from `from` on that has so many bytes; the last one may be joined by
// what was not cut yet.
bool MixedRange::enter_run(char* from, std::uint32_t bytes) {
  Page& page = *page_;
  const PageBits bits(page);
  Starts starts(page);
  char* const last = carved_end(page);
  char* begin = from < last ? bits.first_free_from(from) : nullptr;
  for (char* end = begin; begin != nullptr;
       begin = end < last ? bits.first_free_from(end) : nullptr) {
    for (end = begin; end < last && bits.is_free(end);) end = starts.next_after(end);
    if (end >= last) {
      if (end_of(page) - begin < static_cast<std::ptrdiff_t>(bytes)) return false;
      remove_free(page, begin, last);
      starts.clear_between(begin, end_of(page));
      set_carved(page, static_cast<std::size_t>(begin - arena.memory_of(page)));
      return enter_rest(bytes);
    }
    if (end - begin < static_cast<std::ptrdiff_t>(bytes)) continue;
    remove_free(page, begin, end);
    starts.clear_between(begin, end);
    next_ = begin;
    end_ = end;
    is_rest_ = false;
    return true;
  }
  return enter_rest(bytes);
}

// What is left of a run is free again. Returns its end.
char* MixedRange::leave_run() {
  char* const end = end_;
  if (is_rest_)
    set_carved(*page_, static_cast<std::size_t>(next_ - arena.memory_of(*page_)));
  else if (next_ < end_)
    add_free(*page_, next_, static_cast<std::size_t>(end_ - next_));
  next_ = end_ = quick_end_ = nullptr;
  return end;
}

void MixedRange::leave_page(GroupHeap& heap) {
  Page& page = *page_;
  page_ = nullptr;
  page.worth_while = static_cast<std::uint16_t>(page.free + worth_a_look);
  if (page.out == 0) drop(heap, page);
}

void MixedRange::leave_empty_page(GroupHeap& heap) {
  if (page_ == nullptr || page_->out != 0) return;
  leave_run();
  leave_page(heap);
}

void MixedRange::drop(GroupHeap& heap, Page& page) {
  if (page.queued) pages_.remove(page);
  free_granules_ -= page.free;
  PageBits(page).clear_free();
  Starts(page).clear();
  heap.drop_page(page);
}

bool MixedRange::enter_new_page(GroupHeap& heap, std::uint32_t bytes) {
  Page* page = heap.add_page();
  if (page == nullptr) return false;
  page->block = 0;
  page->cache = nullptr;
  page->caches = heap.caches_;
  set_carved(*page, first_offset(arena.link_of(*page), granule));
  page->thread.store(heap.thread_, std::memory_order_release);
  page_ = page;
  return enter_rest(bytes);
}

bool MixedRange::move_on(GroupHeap& heap, std::uint32_t bytes, bool may_add) {
  bytes += granule;  // one may have to be left out
  if (page_ != nullptr) {
    if (enter_run(leave_run(), bytes)) return true;
    leave_page(heap);
  }
  for (int i = 0; i < most_pages; ++i) {
    page_ = pages_.front();
    if (page_ == nullptr) break;
    pages_.remove(*page_);
    if (enter_run(arena.memory_of(*page_), bytes)) return true;
    leave_page(heap);
  }
  page_ = nullptr;
  return may_add && enter_new_page(heap, bytes);
}

void MixedRange::note_free(GroupHeap& heap, Page& page, std::uint32_t bytes, bool reuse) {
  count_free(page, bytes);
  if (&page == page_) return;
  if (page.out == 0)
    drop(heap, page);
  else if (reuse && !page.queued && page.free >= page.worth_while)
    pages_.push_back(page);
}

// Where too much lies free between blocks in use, and does not serve, there are to be no more of
// such pages.
bool GroupHeap::may_add_mixed_page() const {
  return reuse_ != plan::Reuse::newest_first ||
         range_.free_bytes() <= most_free + out_bytes() / free_share;
}

bool GroupHeap::carves(std::uint32_t bytes) const { return mixed_ && bytes <= most_carved; }

// Blocks of a multiple of 16 are aligned to 16. So that those between them leave no gaps, these are
// cut off in pairs where the range goes on at such a place: the second is as good as freed.
//
// nullptr: no page of this kind is to be had.
void* GroupHeap::carve(BlockCache& cache) {
  const std::uint32_t bytes = cache.block();
  char* p = range_.cut(*this, bytes);
  while (p == nullptr) {
    if (!range_.move_on(*this, bytes, may_add_mixed_page())) return nullptr;
    p = range_.cut(*this, bytes);
  }
  const bool pairs = bytes % 16 != 0 && reinterpret_cast<std::uintptr_t>(p) % 16 == 0;
  if (pairs && reuse_ == plan::Reuse::newest_first) {
    if (cache.is_full() && (cache.capacity() != 0 || !enlarge(cache))) return p;
    if (char* second = range_.cut(*this, bytes)) {
      static_cast<Block*>(static_cast<void*>(second))->mark_freed();
      cache.push(second);
    }
  }
  return p;
}

}  // namespace halo::runtime
