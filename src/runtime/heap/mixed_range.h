// The bump range of a group's mixed-size pages.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/pages/free_block.h"
#include "runtime/pages/page_queue.h"

namespace halo::runtime {

class GroupHeap;

// The distance ahead of the bump pointer to prefetch: the program will write there, and no load has
// brought that memory into the processor's caches.
inline constexpr ptrdiff_t kPrefetched = 128;

// The range is either the uncut rest of a page or a run of free blocks in it. Blocks of different
// sizes are cut off one behind the other. A block, used or free, ends where the next one starts;
// adjacent free blocks are coalesced when a range is made of them. Only the heap's owner uses it.
class MixedRange {
 public:
  // Cuts off `bytes`, a multiple of 8; aligns them to 16 if `bytes` is a multiple of 16. Returns
  // nullptr if the range is too small.
  char* bump(GroupHeap& heap, uint32_t bytes);

  // The fast path of `bump`; nullptr if it cannot serve. A size that is not a multiple of 16 is cut
  // off in pairs, so that later blocks leave no gap. `second` is then the other block, else null.
  char* bump_fast(uint64_t bytes, char*& second) {
    char* const at = next_;
    const bool pair = bytes % 16 != 0;
    const uint64_t cut = pair ? 2 * bytes : bytes;
    const auto begin = reinterpret_cast<uintptr_t>(at);  // null if there is no range
    if (begin % 16 != 0 || begin + cut > reinterpret_cast<uintptr_t>(fast_end_)) return nullptr;
    char* const behind = at + cut;
    second = pair ? at + bytes : nullptr;
    arena.mark_used(at);
    if (pair) {
      arena.mark_start(second);
      arena.mark_used(second);
    }
    arena.mark_start(behind);
    next_ = behind;
    __builtin_prefetch(behind + kPrefetched, 1);
    page_->mixed.used += pair ? 2 : 1;
    cut_bytes_ += cut;
    return at;
  }

  // Moves to a range with room for `bytes`, at most 8 KiB: later in the page, in another queued
  // page, or in a new one if `may_add`. Returns false if no such range is found.
  bool move_on(GroupHeap& heap, uint32_t bytes, bool may_add);

  // Releases its page if no block of it is used.
  void leave_empty_page(GroupHeap& heap);

  // Counts a freed block of that page. `reuse`: the page may serve again before all of its blocks
  // are free.
  void count_free(GroupHeap& heap, Page& page, uint32_t bytes, bool reuse);

  // Bytes of all blocks ever cut.
  uint64_t cut_bytes() const { return __atomic_load_n(&cut_bytes_, __ATOMIC_RELAXED); }
  // Bytes of free blocks between used ones.
  uint64_t free_bytes() const { return free_granules_ * kGranule; }

 private:
  bool enter_run(char* from, uint32_t bytes);
  bool enter_rest(uint32_t bytes);
  bool enter_new_page(GroupHeap& heap, uint32_t bytes);
  char* leave_run();
  void leave_page(GroupHeap& heap);
  void account(GroupHeap& heap);
  void add_free(Page& page, char* p, size_t bytes);
  void count_free(Page& page, size_t bytes);
  void remove_free(Page& page, char* begin, char* end);
  void drop(GroupHeap& heap, Page& page);

  Page* page_;    // null: no range
  char* next_;    // its bit is set in the block-start bitmap
  char* end_;     // end of the range: the start of a block, or the page's end
  bool is_rest_;  // the range is the uncut rest of its page
  // The fast path's limit: behind it system pages are not accounted for yet. Less than the page's
  // end.
  char* fast_end_;
  uint64_t cut_bytes_;
  uint64_t free_granules_;
  PageQueue pages_;  // with enough free bytes to be reused
};

}  // namespace halo::runtime
