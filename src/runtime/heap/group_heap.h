// One thread's part of one group: its pages and block caches.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/format.h"
#include "runtime/heap/block_cache.h"
#include "runtime/heap/equal_pages.h"
#include "runtime/heap/mixed_range.h"
#include "runtime/heap/page_layout.h"
#include "runtime/heap/size_classes.h"

namespace halo::runtime {

class ThreadHeap;

// Single-size pages (equal_pages.h) have lists of their freed blocks.
//
// In mixed-size pages, a block is in use, in the cache of its size, or in the free bitmap of its
// page; the rest of a page is not cut into blocks yet. Most allocations and frees only pop from a
// cache or push to it. A full cache flushes its oldest blocks to their pages.
//
// No operation sorts or searches lists of blocks. A page without used blocks is released
// immediately, unless it serves allocations.
//
// Only the owner's thread changes it, inside its heap (thread_heap.h), or a thread that has adopted
// the heap. Members that the statistics of other threads read are counters; relaxed atomics read
// them. `first_cache_` is stored with release once the cache is initialised.
class GroupHeap {
 public:
  // The tables by size class of one group heap.
  struct Tables {
    Page** serving;       // all of them `no_page`
    PageQueue* queues;    // empty
    BlockCache** caches;  // all of them `no_cache`; null if the group's layout is by size
  };
  // The object must be in zeroed memory.
  void initialise(ThreadHeap* thread, uint32_t group, const plan::Group& settings, Tables tables);

  // Returns a block of `bytes`, a multiple of 8, or nullptr if no memory is available. The owner
  // only, inside its heap.
  void* allocate(uint32_t bytes);

  // The single-size page that serves that class, or `no_page`. The owner only.
  Page& serving_page(size_t class_number) const { return *tables_.serving[class_number]; }

  // Frees a block of this heap; ignores an address that is not a used block. The owner only, inside
  // its heap.
  void deallocate(Page& page, void* p);

  // Queues a page whose countdown has become 0, or releases it.
  void settle(Page& page);

  // Frees to the page, bypassing the cache. Also for the thread that adopts an abandoned heap.
  void deallocate_to_page(Page& page, void* p);

  // Returns all cached blocks to their pages, and releases pages without used blocks. No page
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
  // Bytes of blocks in use; another thread may read a slightly different number. Reads all pages of
  // the arena.
  uint64_t live_bytes() const;
  // Those in mixed-size pages only.
  uint64_t live_mixed_bytes() const;
  // Those in one single-size page. Any thread; the count may be slightly wrong.
  static uint64_t live_bytes_of(const Page& page);
  // Bytes of system pages that its blocks touched since the pages were last purged.
  uint64_t resident_bytes() const {
    return __atomic_load_n(&resident_, __ATOMIC_RELAXED) * kSystemPage;
  }
  uint64_t pages() const { return __atomic_load_n(&pages_, __ATOMIC_RELAXED); }

 private:
  friend class MixedRange;

  // Bytes of blocks in mixed-size pages that are in use or cached.
  uint64_t used_mixed_bytes() const;
  BlockCache* cache_for(uint32_t block);
  bool enlarge(BlockCache& cache);
  void flush_oldest(BlockCache& cache, size_t count);
  void return_to_page(Page& page, void* p, uint32_t bytes);

  // Single-size pages (equal_pages.cc).
  void* allocate_equal(uint32_t block);
  static bool starts_block(const Page& page, const void* p);
  static bool is_listed(const Page& page, const Block* block);
  bool open_run(Page& page);
  static void drop_overwritten(Page& page);
  Page* add_equal_page(uint32_t block);
  bool serve_from_next_page(unsigned number, uint32_t block);
  void stop_serving(unsigned number);

  // Mixed-size pages (mixed_pages.cc).
  void* allocate_mixed(uint32_t bytes);
  void* bump_mixed(BlockCache& cache);
  bool uses_bump(uint32_t bytes) const;
  bool may_add_mixed_page() const;

  Page* add_page();
  void drop_page(Page& page);
  void account_touched(Page& page);
  void* prepared(void* p);

  Tables tables_;
  BlockCache* first_cache_;  // head of the list of its caches
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

}  // namespace halo::runtime
