// The block cache: addresses of the newest freed blocks of one size, of one group in one thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/heap/mixed_range.h"
#include "runtime/heap/size_classes.h"

namespace halo::runtime {

// Most allocations are served from it. It stores addresses outside the blocks, so serving one block
// reads no other, and a write to freed memory cannot corrupt it. If the cache is empty, blocks come
// from a run: blocks of a page that were never used.
//
// A free writes the mark of a freed block without reading the block, which may have left the
// processor's caches. Taking the block out checks the mark. A block that was freed twice may be in
// the cache twice, or in its page as well. Only the first copy still has its mark; the second one
// is dropped, unless its page has been released meanwhile (docs/decisions/0011-pages-and-caches.md,
// "Limits").
//
// Concurrency: only the owner's thread changes it, and only while inside its heap (thread_heap.h).
// Other threads call only `size`, `bytes`, `next` and `block`, for statistics. `top_` and the
// members of the run are therefore accessed by relaxed atomics; a torn view of a run counts as no
// run.
class BlockCache {
 public:
  // Blocks that any cache may hold.
  static constexpr size_t kMaxCached = 1024;

  constexpr BlockCache() = default;

  // The object must be in zeroed memory. The cache has no room yet and serves blocks of `block`
  // bytes. `next` is another cache of the heap. If `range` is not null, an empty cache takes blocks
  // from it by bump allocation.
  void initialise(uint32_t block, BlockCache* next, MixedRange* range) {
    block_ = block;
    next_ = next;
    range_ = range;
  }

  bool is_empty() const { return top_ == begin_; }
  bool is_full() const { return top_ == end_; }
  // Takes the newest block. The cache must not be empty.
  void* pop() {
    void** const top = top_ - 1;
    void* p = *top;
    set_top(top);
    return p;
  }
  // Takes the newest block; nullptr if it has lost its mark, in which case it is dropped. The cache
  // must not be empty.
  void* pop_marked() {
    auto* block = static_cast<Block*>(pop());
    return block->is_marked_freed() ? block : nullptr;
  }
  // The cache must not be full.
  void push(void* p) {
    void** const top = top_;
    *top = p;
    set_top(top + 1);
  }

  // Marks `p` as freed as well. Returns false if the cache is full.
  bool push_marked(void* p) {
    void** const top = top_;
    if (top == end_) [[unlikely]]
      return false;
    static_cast<Block*>(p)->mark_freed();
    *top = p;
    set_top(top + 1);
    return true;
  }

  size_t size() const {
    return static_cast<size_t>(__atomic_load_n(&top_, __ATOMIC_RELAXED) -
                               __atomic_load_n(&begin_, __ATOMIC_RELAXED));
  }
  // The number of blocks it may hold.
  size_t capacity() const { return static_cast<size_t>(end_ - begin_); }
  // In order of age, oldest first.
  void** begin() const { return begin_; }

  // The number of addresses that its memory has room for.
  size_t room() const { return room_; }
  // Moves to memory for `count` addresses, at least as many as before, and copies the cached ones.
  void move_to(void** slots, size_t count);
  // Limits the capacity to `count`: at most the room, and at least the number of cached blocks.
  void limit_to(size_t count) { end_ = begin_ + count; }
  // Removes the oldest `count` blocks from the cache.
  void drop_oldest(size_t count);
  // Reverses the order of the newest `count` blocks.
  void reverse_newest(size_t count);

  // The fast path of an empty cache: a block by bump allocation, or nullptr.
  void* bump_fast() {
    if (range_ == nullptr || (block_ % 16 != 0 && is_full())) return nullptr;
    char* second;
    char* p = range_->bump_fast(block_, second);
    if (p == nullptr || second == nullptr) return p;
    reinterpret_cast<Block*>(second)->mark_freed();
    push(second);
    return p;
  }

  // The next block of the run; nullptr if it is used up. The cache must be empty.
  void* bump() {
    char* p = run_next_;
    if (p == run_end_) return nullptr;
    set_run_next(p + run_step_);
    __builtin_prefetch(p + kPrefetched, 1);
    arena.mark_used(p);
    return p;
  }

  // Sets the run: the blocks that start every `step` bytes from `begin` up to `end`.
  void set_run(char* begin, char* end, uint32_t step) {
    set_run_next(begin);
    __atomic_store_n(&run_end_, end, __ATOMIC_RELAXED);
    __atomic_store_n(&run_step_, step, __ATOMIC_RELAXED);
  }
  char* run_next() const { return __atomic_load_n(&run_next_, __ATOMIC_RELAXED); }
  char* run_end() const { return __atomic_load_n(&run_end_, __ATOMIC_RELAXED); }
  // Bytes between the starts of the run's blocks; 0 if there has been no run.
  uint32_t run_step() const { return __atomic_load_n(&run_step_, __ATOMIC_RELAXED); }

  // Bytes of the blocks that are cached or in the run. Another thread may read a slightly different
  // sum, and no run or no cached blocks while these change.
  uint64_t bytes() const {
    const ptrdiff_t run = run_end() - run_next();
    const uint32_t step = run_step();
    const bool torn = run < 0 || run > static_cast<ptrdiff_t>(2 * kPageSize);
    const uint64_t ready = torn || step == 0 ? 0 : static_cast<uint64_t>(run) / step;
    const size_t cached = size();  // torn while the addresses move
    return ((cached <= kMaxCached ? cached : 0) + ready) * block_;
  }

  BlockCache* next() const { return next_; }
  uint32_t block() const { return block_; }
  // Pages of this block size with free or uncut blocks.
  PageQueue& pages() { return pages_; }

  // The number of blocks flushed to their pages since the cache last ran empty.
  size_t flushed() const { return flushed_; }
  void count_flush(size_t blocks) { flushed_ += blocks; }
  void count_empty() { flushed_ = 0; }

 private:
  void set_top(void** top) { __atomic_store_n(&top_, top, __ATOMIC_RELAXED); }
  void set_run_next(char* p) { __atomic_store_n(&run_next_, p, __ATOMIC_RELAXED); }

  void** top_ = nullptr;
  void** begin_ = nullptr;
  void** end_ = nullptr;
  char* run_next_ = nullptr;
  char* run_end_ = nullptr;
  uint32_t run_step_ = 0;
  uint32_t block_ = 0;
  size_t flushed_ = 0;
  BlockCache* next_ = nullptr;
  MixedRange* range_ = nullptr;
  uint32_t room_ = 0;
  PageQueue pages_;
};

// Stands for size classes that the group has not served in this thread: empty and full. Never
// written.
extern BlockCache no_cache;

// The cache for the used block `p` of that page if the fast path finds it, else nullptr.
[[gnu::always_inline]] inline BlockCache* cache_for_freed(const Page& page, const void* p) {
  if (page.cache != nullptr) return page.cache;
  const uint64_t behind = arena.granules_behind(p);
  if (behind < kMaxDirect / kGranule) [[likely]]
    return page.caches[behind];
  return behind < kPageSize / kGranule ? page.caches[kClassNumbers.of[behind + 1]] : nullptr;
}

}  // namespace halo::runtime
