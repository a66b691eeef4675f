// Where a group's blocks of different sizes are cut off, one behind the other: what was not cut yet
// of a page, or a run of free blocks inside one.
//
// In a mixed page a block ends where the next one starts, in use or free. Free blocks that lie side
// by side become one when a range is made of them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/free_block.h"
#include "runtime/page_queue.h"

namespace halo::runtime {

class GroupHeap;

// Bytes ahead of a block that is cut off: the program is going to write to memory that no load has
// brought into the processor's caches.
inline constexpr std::ptrdiff_t prefetched = 128;

class MixedRange {
 public:
  // The next `bytes`, a multiple of 8, aligned to 16 if they are one of that, too; nullptr where
  // there is no room.
  char* cut(GroupHeap& heap, std::uint32_t bytes);

  // The next `bytes`, if the fast path can, else nullptr. Those that are no multiple of 16 come
  // in pairs, so that what is cut after them leaves no gap: the other one is `second`, else null.
  char* cut_fast(std::uint64_t bytes, char*& second) {
    char* const at = next_;
    const bool pair = bytes % 16 != 0;
    char* const behind = at + (pair ? 2 * bytes : bytes);
    if (reinterpret_cast<std::uintptr_t>(at) % 16 != 0 || behind > quick_end_) return nullptr;
    second = pair ? at + bytes : nullptr;
    arena.mark_out(at);
    if (pair) {
      arena.mark_start(second);
      arena.mark_out(second);
    }
    arena.mark_start(behind);
    next_ = behind;
    __builtin_prefetch(behind + prefetched, 1);
    page_->out += pair ? 2 : 1;
    cut_bytes_ += static_cast<std::uint64_t>(behind - at);
    return at;
  }

  // Goes on where there is room for `bytes`, at most 8 KiB: further on in its page, in another one
  // of which much is free, or if `may_add` in a new one. False where there is none.
  bool move_on(GroupHeap& heap, std::uint32_t bytes, bool may_add);

  // Lets its page go if no block of it is out.
  void leave_empty_page(GroupHeap& heap);

  // A block of so many bytes became free. `reuse`: before all of the page's are.
  void note_free(GroupHeap& heap, Page& page, std::uint32_t bytes, bool reuse);

  // Of all blocks that were ever cut.
  std::uint64_t cut_bytes() const { return __atomic_load_n(&cut_bytes_, __ATOMIC_RELAXED); }
  // Bytes that are free between blocks in use.
  std::uint64_t free_bytes() const { return free_granules_ * granule; }

 private:
  bool enter_run(char* from, std::uint32_t bytes);
  bool enter_rest(std::uint32_t bytes);
  bool enter_new_page(GroupHeap& heap, std::uint32_t bytes);
  char* leave_run();
  void leave_page(GroupHeap& heap);
  void account(GroupHeap& heap);
  void add_free(Page& page, char* p, std::size_t bytes);
  void count_free(Page& page, std::size_t bytes);
  void remove_free(Page& page, char* begin, char* end);
  void drop(GroupHeap& heap, Page& page);

  Page* page_;    // null: there is no range
  char* next_;    // marked as a start
  char* end_;     // of the range: a block starts there, or the page ends
  bool is_rest_;  // what was not cut yet
  // Up to here the system's pages are accounted for; before the page's end.
  char* quick_end_;
  std::uint64_t cut_bytes_;
  std::uint64_t free_granules_;
  PageQueue pages_;  // of which much is free
};

}  // namespace halo::runtime
