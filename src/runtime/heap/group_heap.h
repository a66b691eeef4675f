// One thread's part of one group: its pages and lists of freed blocks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/format.h"
#include "runtime/heap/free_list.h"
#include "runtime/heap/mixed_range.h"
#include "runtime/heap/page_layout.h"
#include "runtime/heap/size_classes.h"

namespace halo::runtime {

class ThreadHeap;

// A freed block is in a list of its class (free_list.h), or was returned to its page: to the list
// of a single-size page (equal_pages.cc), or to the free bitmap of a mixed-size one. Unused blocks
// are in the run of a single-size page, or in the bump range of mixed-size pages.
//
// No operation sorts or searches lists of blocks. A page without used blocks is released
// immediately, unless it serves allocations.
//
// Only the owner's thread changes it, inside its heap (thread_heap.h), or a thread that has adopted
// the heap. Members that the statistics of other threads read are counters; relaxed atomics read
// them. `first_list_` is stored with release once the list is initialised.
class GroupHeap {
 public:
  // The object must be in zeroed memory. `lists`: a table by size class, of `no_list`.
  void initialise(ThreadHeap* thread, uint32_t group, const plan::Group& settings,
                  FreeList** lists);

  // Returns a block of `bytes`, a multiple of 8, or nullptr if no memory is available. The owner
  // only, inside its heap.
  void* allocate(uint32_t bytes);

  // A block, of which the list has none, by the fast paths of what comes next; or nullptr. The
  // owner only, inside its heap.
  [[gnu::always_inline]] void* allocate_next(FreeList& list) {
    if (list.has_older()) return take_again(list);
    return mixed_ ? bump_fast(list) : nullptr;
  }

  // Frees a block of this heap; ignores an address that is not a used block. The owner only, inside
  // its heap.
  void deallocate(Page& page, void* p);

  // Returns the blocks of the older list to their pages, and lets the full list be the older one.
  void spill(FreeList& list);

  // Frees to the page, bypassing the list. Also for the thread that adopts an abandoned heap.
  void deallocate_to_page(Page& page, void* p);

  // Returns all blocks of lists to their pages, and releases pages without used blocks. No page
  // serves then.
  void flush();

  // Releases the page of the bump range if it has no used block.
  void leave_empty_page() { range_.leave_empty_page(*this); }

  // Whether a block starts at `p`, an arena address, and does not look free. Any thread.
  static bool may_be_in_use(const void* p);
  // Whether no block starts at `p` in a mixed-size page, or it looks free. Any thread.
  static bool looks_free(const void* p);
  // Bytes of the block at `p`. Any thread that may use the block.
  static size_t size_of(const Page& page, const void* p);

  uint32_t group() const { return group_; }
  // The layout of its single-size pages.
  const PageLayout& layout() const { return layout_; }

  // Number of allocations by `allocate`; the fast path bypasses it unless statistics are enabled.
  uint64_t allocations() const { return __atomic_load_n(&allocations_, __ATOMIC_RELAXED); }
  // Requests forwarded because memory was refused.
  uint64_t refusals() const { return __atomic_load_n(&refusals_, __ATOMIC_RELAXED); }
  // Bytes of blocks in use; another thread may read a slightly different number.
  uint64_t live_bytes() const;
  // Bytes of system pages that its blocks touched since the pages were last purged.
  uint64_t resident_bytes() const {
    return __atomic_load_n(&resident_, __ATOMIC_RELAXED) * kSystemPage;
  }
  uint64_t pages() const { return __atomic_load_n(&pages_, __ATOMIC_RELAXED); }

 private:
  friend class MixedRange;

  FreeList* list_for(uint32_t block);
  void* take_again(FreeList& list);
  static void drop_overwritten(FreeList& list);
  static void grow(FreeList& list);
  void return_all(FreeList& list, uintptr_t newest, uint32_t count);
  void return_block(Page& page, Block* block);
  static bool may_be_freed(Page& page, const Block* block);
  static bool is_listed(const FreeList& list, const Page& page, const Block* block);
  FreeList* list_of(const Page& page, const void* p) const;

  // Single-size pages (equal_pages.cc).
  void* allocate_equal(uint32_t block);
  static bool starts_block(const Page& page, const void* p);
  bool open_run(FreeList& list, Page& page);
  bool add_equal_page(FreeList& list);
  bool refill(FreeList& list);
  void stop_serving(FreeList& list);
  void return_equal(FreeList& list, Page& page, Block* block);
  void settle(FreeList& list, Page& page);
  void drop_equal_page(FreeList& list, Page& page);

  // Mixed-size pages (mixed_pages.cc).
  void* allocate_mixed(uint32_t bytes);
  void* bump_fast(FreeList& list);
  void* bump_mixed(FreeList* list, uint32_t bytes);
  void return_mixed(Page& page, Block* block, uint32_t bytes);
  bool uses_bump(uint32_t bytes) const;
  bool may_add_mixed_page() const;
  // Bytes of blocks in mixed-size pages that are in use or in lists.
  uint64_t used_mixed_bytes() const;

  Page* add_page();
  void drop_page(Page& page);
  void account_touched(Page& page);
  void* prepared(void* p);

  FreeList** lists_;      // by size class
  FreeList* first_list_;  // the head of all of them
  ThreadHeap* thread_;
  uint32_t group_;
  plan::Reuse reuse_;
  bool mixed_;
  bool huge_pages_;
  PageLayout layout_;
  uint64_t returned_bytes_;  // bytes of blocks returned to mixed-size pages
  uint64_t pages_;
  uint64_t resident_;  // system pages
  uint64_t allocations_;
  uint64_t refusals_;
  MixedRange range_;
};

inline void* GroupHeap::bump_fast(FreeList& list) {
  if (list.room <= 1) return nullptr;  // the second block of a pair must not fill it
  char* second;
  char* const p = range_.bump_fast(list.block, second);
  if (p == nullptr) return nullptr;
  if (second != nullptr) put_listed(list, second);
  reinterpret_cast<Block*>(p)->clear();
  return p;
}

}  // namespace halo::runtime
