// One thread's part of one group: pages, and caches of the blocks freed since.
//
// A block is in use, in the cache of its size, in the free bitmap of its page, or not cut yet. Most
// allocations and frees only take it from its cache or put it there. A cache that runs empty is
// filled from the pages in the order of addresses; one that runs full gives its oldest blocks back
// to their pages. Nothing is ever sorted or searched for. A page of which every block is back is
// free at once, unless a run of blocks to be cut lies in it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/format.h"
#include "runtime/block_cache.h"
#include "runtime/mixed_range.h"
#include "runtime/size_classes.h"

namespace halo::runtime {

class ThreadHeap;

class GroupHeap {
 public:
  // In zeroed memory. `caches` has one for each class of sizes that groups serve, all of them
  // `no_cache`.
  void initialise(ThreadHeap* thread, std::uint32_t group, const plan::Group& settings,
                  BlockCache** caches);

  // A block for `bytes`, a multiple of 8, or nullptr where no memory is to be had. The owner only,
  // inside its heap.
  void* allocate(std::uint32_t bytes);

  // Frees a block of this heap; of what is no block in use, nothing comes. The owner only, inside
  // its heap.
  void deallocate(Page& page, void* p);

  // The same, past the cache. Also for a heap that no thread has, by whoever adopted it.
  void deallocate_to_page(Page& page, void* p);

  // Gives all cached blocks back to their pages, and pages back of which none is out.
  void flush();

  // Gives the page back that blocks of any size are being cut off, if none of it is out.
  void leave_empty_page() { range_.leave_empty_page(*this); }

  // Whether a block of the arena starts at `p` and is not known to be free; any thread.
  static bool may_be_in_use(const void* p);
  // Bytes of the block at `p`; any thread that may use the block.
  static std::size_t size_of(const Page& page, const void* p);

  std::uint32_t group() const { return group_; }

  // By `allocate`: whoever wants to know keeps to it.
  std::uint64_t allocations() const { return __atomic_load_n(&allocations_, __ATOMIC_RELAXED); }
  // Requests forwarded because memory was refused.
  std::uint64_t refusals() const { return __atomic_load_n(&refusals_, __ATOMIC_RELAXED); }
  // Bytes of blocks in use; another thread may see some too few or too many.
  std::uint64_t live_bytes() const;
  // Bytes of pages of the system that its blocks lie on, or lay on since these were given back.
  std::uint64_t resident_bytes() const {
    return __atomic_load_n(&resident_, __ATOMIC_RELAXED) * system_page;
  }
  std::uint64_t pages() const { return __atomic_load_n(&pages_, __ATOMIC_RELAXED); }

 private:
  friend class MixedRange;

  // Of blocks in use or cached.
  std::uint64_t out_bytes() const;
  BlockCache* cache_for(std::uint32_t block);
  bool enlarge(BlockCache& cache);

  // Pages of equal blocks (equal_pages.cc).
  bool refill(BlockCache& cache);
  std::size_t take_freed(Page& page, BlockCache& cache, std::size_t most);
  void open_run(Page& page, BlockCache& cache);
  void close_run(BlockCache& cache);
  void settle(Page& page);
  Page* add_equal_page(BlockCache& cache);
  void flush_oldest(BlockCache& cache, std::size_t count);
  void give_to_page(Page& page, void* p, std::uint32_t bytes);

  // Pages of any blocks (mixed_pages.cc).
  void* carve(BlockCache& cache);
  bool carves(std::uint32_t bytes) const;
  bool may_add_mixed_page() const;

  Page* add_page();
  void drop_page(Page& page);
  void account_touched(Page& page);
  void* given(void* p);

  BlockCache** caches_;
  BlockCache* first_cache_;  // of those that were made
  ThreadHeap* thread_;
  std::uint32_t group_;
  plan::Reuse reuse_;
  bool mixed_;
  bool huge_pages_;
  std::uint64_t taken_bytes_;  // of blocks taken out of pages of equal ones
  std::uint64_t given_bytes_;  // of blocks given back to pages
  std::uint64_t pages_;
  std::uint64_t resident_;  // system pages
  std::uint64_t allocations_;
  std::uint64_t refusals_;
  MixedRange range_;
};

}  // namespace halo::runtime
