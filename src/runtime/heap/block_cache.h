// The block cache: addresses of the newest freed blocks of one size in mixed-size pages, of one
// group in one thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/heap/mixed_range.h"
#include "runtime/heap/size_classes.h"

namespace halo::runtime {

// Most allocations are served from it. It stores addresses outside the blocks, so serving one block
// reads no other, and a write to freed memory cannot corrupt it.
//
// A free writes the mark of a freed block without reading the block, which may have left the
// processor's caches. Taking the block out checks the mark. A block that was freed twice may be in
// the cache twice, or in its page as well. Only the first copy still has its mark; the second one
// is dropped, unless its page has been released meanwhile (docs/decisions/0011-pages-and-caches.md,
// "Limits").
//
// Concurrency: only the owner's thread changes it, and only while inside its heap (thread_heap.h).
// Other threads call only `size`, `bytes`, `next` and `block`, for statistics. `top_` is therefore
// accessed by relaxed atomics.
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

  // Bytes of the cached blocks. Another thread may read a slightly different sum, and none while
  // the addresses move.
  uint64_t bytes() const {
    const size_t cached = size();
    return (cached <= kMaxCached ? cached : 0) * block_;
  }

  BlockCache* next() const { return next_; }
  uint32_t block() const { return block_; }

  // The number of blocks flushed to their pages since the cache last ran empty.
  size_t flushed() const { return flushed_; }
  void count_flush(size_t blocks) { flushed_ += blocks; }
  void count_empty() { flushed_ = 0; }

 private:
  void set_top(void** top) { __atomic_store_n(&top_, top, __ATOMIC_RELAXED); }

  void** top_ = nullptr;
  void** begin_ = nullptr;
  void** end_ = nullptr;
  uint32_t block_ = 0;
  size_t flushed_ = 0;
  BlockCache* next_ = nullptr;
  MixedRange* range_ = nullptr;
  uint32_t room_ = 0;
};

// Stands for size classes that the group has not served from mixed-size pages in this thread: empty
// and full. Never written.
extern BlockCache no_cache;

// The cache for the used block `p` of that mixed-size page if the fast path finds it, else nullptr.
[[gnu::always_inline]] inline BlockCache* cache_for_freed(const Page& page, const void* p) {
  const uint64_t behind = arena.granules_behind(p);
  if (behind < kMaxDirect / kGranule) [[likely]]
    return page.mixed.caches[behind];
  return behind < kPageSize / kGranule ? page.mixed.caches[kClassNumbers.of[behind + 1]] : nullptr;
}

}  // namespace halo::runtime
