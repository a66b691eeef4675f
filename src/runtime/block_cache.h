// The newest freed blocks of one size, of one group in one thread: what most allocations are served
// from. Their addresses lie here, not in the blocks, so that serving one reads none of the others,
// and no write to freed memory can lead it astray. While there is none, blocks come from a run of
// those that their page has not cut yet.
//
// Freeing marks a block, without a look at it: it may have left the processor's caches long ago.
// Whoever takes it out again looks. A block that was freed twice is here twice, or in its page as
// well; only the first time it still has its mark, and then it is in use. Its page may have been
// given up between the two (docs/decisions/0011-pages-and-caches.md, "Limits").
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/mixed_range.h"
#include "runtime/size_classes.h"

namespace halo::runtime {

// Only the owner's thread changes it, and only while it is inside its heap (thread_heap.h).
class BlockCache {
 public:
  constexpr BlockCache() = default;

  // In zeroed memory: without room, for blocks of so many bytes. `next` is another one of its heap.
  // `range`: where blocks are cut off while the cache is empty; null: not from there.
  void initialise(std::uint32_t block, BlockCache* next, MixedRange* range) {
    block_ = block;
    next_ = next;
    range_ = range;
  }

  bool is_empty() const { return top_ == begin_; }
  bool is_full() const { return top_ == end_; }
  // Of one that is not empty: the newest.
  void* pop() {
    void** const top = top_ - 1;
    void* p = *top;
    set_top(top);
    return p;
  }
  // Of one that is not empty: the newest, or nullptr where that has no mark, and is lost.
  void* pop_marked() {
    auto* block = static_cast<Block*>(pop());
    return block->is_marked_freed() ? block : nullptr;
  }
  // Of one that is not full.
  void push(void* p) {
    void** const top = top_;
    *top = p;
    set_top(top + 1);
  }

  // Marks `p`, too; false where there is no room.
  bool push_marked(void* p) {
    void** const top = top_;
    if (top == end_) [[unlikely]]
      return false;
    static_cast<Block*>(p)->mark_freed();
    *top = p;
    set_top(top + 1);
    return true;
  }

  std::size_t size() const {
    return static_cast<std::size_t>(__atomic_load_n(&top_, __ATOMIC_RELAXED) - begin_);
  }
  // How many it may hold.
  std::size_t capacity() const { return static_cast<std::size_t>(end_ - begin_); }
  // By age, the oldest first.
  void** begin() const { return begin_; }

  // How many addresses there is memory for.
  std::size_t room() const { return room_; }
  // Memory for `count` addresses, no fewer than there was, which takes over what is cached.
  void move_to(void** slots, std::size_t count);
  // As many as there is room for, and as are cached, at least.
  void limit_to(std::size_t count) { end_ = begin_ + count; }
  // The oldest `count` blocks are somewhere else by now.
  void forget_oldest(std::size_t count);
  // The newest `count` come the other way round.
  void reverse_newest(std::size_t count);

  // Of one that is empty: a block that was never cached, on the fast path, else nullptr.
  void* cut_fast() {
    if (range_ == nullptr || (block_ % 16 != 0 && is_full())) return nullptr;
    char* second;
    char* p = range_->cut_fast(block_, second);
    if (p == nullptr || second == nullptr) return p;
    reinterpret_cast<Block*>(second)->mark_freed();
    push(second);
    return p;
  }

  // Of one that is empty: the next block of the run that was made ready; nullptr: none is left.
  void* cut() {
    char* p = run_next_;
    if (p == run_end_) return nullptr;
    set_run_next(p + run_step_);
    __builtin_prefetch(p + prefetched, 1);
    arena.mark_out(p);
    return p;
  }

  // From now on `cut` has the blocks that begin every `step` bytes from `begin` on, up to `end`.
  void set_run(char* begin, char* end, std::uint32_t step) {
    set_run_next(begin);
    __atomic_store_n(&run_end_, end, __ATOMIC_RELAXED);
    __atomic_store_n(&run_step_, step, __ATOMIC_RELAXED);
  }
  char* run_next() const { return __atomic_load_n(&run_next_, __ATOMIC_RELAXED); }
  char* run_end() const { return __atomic_load_n(&run_end_, __ATOMIC_RELAXED); }

  // Of blocks that are cached or ready to be cut; another thread may see some too few or too many,
  // and none ready while a run changes.
  std::uint64_t bytes() const {
    const std::ptrdiff_t run = run_end() - run_next();
    const std::uint32_t step = __atomic_load_n(&run_step_, __ATOMIC_RELAXED);
    const bool torn = run < 0 || run > static_cast<std::ptrdiff_t>(2 * page_size);
    const std::uint64_t ready = torn || step == 0 ? 0 : static_cast<std::uint64_t>(run) / step;
    return (size() + ready) * block_;
  }

  BlockCache* next() const { return next_; }
  std::uint32_t block() const { return block_; }
  // Pages of such blocks of which some are free, or not cut yet.
  PageQueue& pages() { return pages_; }

  // Since it last ran empty: how many blocks went back to their pages.
  std::size_t flushed() const { return flushed_; }
  void note_flush(std::size_t blocks) { flushed_ += blocks; }
  void note_empty() { flushed_ = 0; }

 private:
  void set_top(void** top) { __atomic_store_n(&top_, top, __ATOMIC_RELAXED); }
  void set_run_next(char* p) { __atomic_store_n(&run_next_, p, __ATOMIC_RELAXED); }

  void** top_ = nullptr;
  void** begin_ = nullptr;
  void** end_ = nullptr;
  char* run_next_ = nullptr;
  char* run_end_ = nullptr;
  std::uint32_t run_step_ = 0;
  std::uint32_t block_ = 0;
  std::size_t flushed_ = 0;
  BlockCache* next_ = nullptr;
  MixedRange* range_ = nullptr;
  std::uint32_t room_ = 0;
  PageQueue pages_;
};

// Of block sizes that the group has not served in this thread: empty and full.
extern BlockCache no_cache;

// The cache that a block of that page goes to which is out, if the fast path finds it, else
// nullptr.
[[gnu::always_inline]] inline BlockCache* cache_for_freed(const Page& page, const void* p) {
  if (page.cache != nullptr) return page.cache;
  const std::uint64_t behind = arena.granules_behind(p);
  if (behind < most_direct / granule) [[likely]]
    return page.caches[behind];
  return behind < page_size / granule ? page.caches[class_numbers.of[behind + 1]] : nullptr;
}

}  // namespace halo::runtime
