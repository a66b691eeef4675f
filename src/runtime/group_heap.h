// One thread's part of one group, or of one block size of it: bump allocation in ranges of chunks,
// and lists of the blocks freed since.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "plan/format.h"
#include "runtime/arena.h"
#include "runtime/at_once.h"
#include "runtime/free_block.h"

namespace halo::runtime {

class Starts;
class ThreadHeap;

// `size` bytes, at least one, rounded up to the next multiple of `mask` + 1.
inline std::uint32_t round_block(std::size_t size, std::size_t mask) {
  return static_cast<std::uint32_t>((size + (size == 0) + mask) & ~mask);
}

// Bytes of the block that serves `size` bytes: a multiple of 8. The block is aligned to the largest
// power of two that divides it, at most 16; `align16` forces that much.
inline std::uint32_t block_bytes(std::size_t size, bool align16) {
  return round_block(size, align16 ? 15 : granule - 1);
}

class GroupHeap;

// For one block size of a group, in one thread: the freed blocks, newest first, and the heap that
// they belong to; it is null until that heap had such a block.
struct BlockList {
  Block* first;
  GroupHeap* heap;
};

// Bytes that a heap carves between two looks around.
inline constexpr std::size_t soft_step = 64 * 1024;

class GroupHeap {
 public:
  // In zeroed memory. For blocks from `smallest` to `largest` bytes, each of which has its list at
  // `lists` by granules. `next_of_group` is another heap of the group in this thread.
  void initialise(ThreadHeap* thread, std::uint32_t group, const plan::Group& settings,
                  std::uint32_t smallest, std::uint32_t largest, BlockList* lists,
                  GroupHeap* next_of_group);

  // The block on top of its own list for that many bytes. The owner only.
  void* take(BlockList& list, std::size_t bytes) {
    Block* block = list.first;
    list.first = block->next();
    block->clear();
    allocated_bytes_ += bytes;
    return block;
  }

  // A block of `bytes` (from block_bytes) cut off the current range if that is quickly done, else
  // nullptr. The owner only.
  void* carve_quickly(std::size_t bytes) {
    char* at = bump_;
    if (bytes != uniform_ || static_cast<std::ptrdiff_t>(bytes) > soft_limit_ - at) return nullptr;
    if (!replace_at_once(bump_, at, at + bytes)) [[unlikely]]
      return nullptr;
    allocated_bytes_ += bytes;
    return given(at);
  }

  // A block of `bytes` (from block_bytes), or nullptr when no chunk is to be had. The owner only.
  void* allocate(std::uint32_t bytes) {
    void* p = pop(bytes);
    if (p == nullptr) p = carve_quickly(bytes);
    if (p == nullptr) p = carve(bytes);
    allocations_ += p != nullptr;
    return p;
  }

  // Same as allocate, zeroed.
  void* allocate_zeroed(std::uint32_t bytes);

  // Frees a block of this heap of `bytes`, unless something is to be done first, or it may be free
  // already: then nothing happened, and deallocate is to be called. The owner only.
  bool deallocate_quickly(std::uint64_t bytes, void* p) {
    if (static_cast<Block*>(p)->may_be_free() || list_of(bytes).first == p) [[unlikely]]
      return false;
    if (subtract_at_once(freed_left_, bytes)) [[unlikely]] {
      freed_left_ += bytes;
      return false;
    }
    push(p, bytes);
    return true;
  }

  // Frees a block of this heap; of what is no block in use, nothing comes. The owner only.
  void deallocate(Chunk& chunk, void* p);

  // The same from any other thread. Lock-free.
  void deallocate_remote(const Chunk& chunk, void* p);

  // Whether a block of that chunk starts at `p` and is not known to be free; any thread.
  static bool may_be_in_use(const Chunk& chunk, const void* p);

  // Bytes of the block at `p`; any thread that may use the block.
  static std::size_t size_of(const Chunk& chunk, const void* p) {
    const std::uint32_t uniform = chunk.uniform.load(std::memory_order_acquire);
    return uniform != 0 ? uniform : mixed_size_of(chunk, p);
  }

  // Sorts what has been freed: empty chunks go back to the arena, neighbours become one range
  // again, which the next allocations fill in order. With `give_back`, the whole pages inside large
  // ranges return to the system. The owner only.
  void tidy(bool give_back);

  // Takes over what other threads freed; then true if tidying is worth while. The owner only.
  bool is_untidy();

  const ThreadHeap* thread() const { return thread_; }
  std::uint32_t group() const { return group_; }
  const GroupHeap* next_of_group() const { return next_of_group_; }
  GroupHeap* next_of_group() { return next_of_group_; }
  // By `allocate` and `allocate_zeroed`: whoever wants to know keeps to these.
  std::uint64_t allocations() const { return __atomic_load_n(&allocations_, __ATOMIC_RELAXED); }
  // Read in this order, so that another thread's view is never below zero.
  std::uint64_t live_bytes() const {
    const std::uint64_t freed = freed_bytes();
    return __atomic_load_n(&allocated_bytes_, __ATOMIC_RELAXED) - freed;
  }
  // Bytes of pages that hold or held blocks and were not given back.
  std::uint64_t resident_bytes() const;
  std::uint64_t chunks() const { return chunk_count_; }
  // Blocks not given because too much was free, in pieces that do not serve: they are forwarded.
  std::uint64_t refusals() const { return __atomic_load_n(&refusals_, __ATOMIC_RELAXED); }

 private:
  // The freed blocks of that size.
  BlockList& list_of(std::size_t bytes) {
    return *reinterpret_cast<BlockList*>(lists_ + bytes * (sizeof(BlockList) / granule));
  }
  // Of a size that was asked for before.
  void push(void* p, std::size_t bytes) {
    auto* block = static_cast<Block*>(p);
    BlockList& list = list_of(bytes);
    block->set_next(list.first);
    list.first = block;
  }
  // Of a block that is given out.
  static void* given(void* p) {
    static_cast<Block*>(p)->clear();
    return p;
  }
  // What is left over, of any size.
  void push_rest(void* p, std::size_t bytes) {
    list_of(bytes).heap = this;
    push(p, bytes);
  }
  void* pop(std::uint32_t bytes) {
    BlockList& list = list_of(bytes);
    return list.first == nullptr ? nullptr : take(list, bytes);
  }

  static std::size_t mixed_size_of(const Chunk& chunk, const void* p);
  void* carve(std::uint32_t bytes);
  void* carve_range(std::uint32_t bytes);
  void* carve_mixed(std::uint32_t bytes);
  void* carve_now(std::uint32_t bytes);
  void* carve_elsewhere(std::uint32_t bytes);
  void* split(std::uint32_t bytes);
  bool enter_hole(std::uint32_t bytes, int most_tried);
  bool enter_chunk(std::uint32_t bytes);
  bool resume_chunk(std::uint32_t bytes, bool grow);
  void enter_tail(const Chunk& chunk);
  void leave_range();
  void make_mixed(Chunk& chunk);
  void move_soft_limit();
  void recycle(Chunk& chunk);
  void disown(Chunk& chunk);
  void account(Chunk& chunk, std::size_t resident);
  void take_back(Chunk& chunk, std::size_t returned);
  std::uint64_t free_bytes() const;

  // Freeing (freeing.cc).
  bool is_carved(const Chunk& chunk, const void* p) const;
  void drain_remote();
  void leave_block(Chunk& chunk);
  bool may_return() const;
  std::uint64_t enough_to_return() const;
  void set_freed_limit();
  void count_freed(std::uint64_t bytes);
  void allow_freed(std::uint64_t left);
  std::uint64_t freed_bytes() const;

  // Growing (budget.cc). Whether the group may take more memory.
  bool may_grow() const;
  bool may_take_huge_page() const;
  void* carve_refused(std::uint32_t bytes);
  void refuse(std::uint32_t bytes);

  // Tidying (tidy.cc).
  bool has_freed(std::uint64_t since);
  bool is_worth_tidying();
  void tidy_now(bool give_back);
  void scatter_lists();
  bool sort_chunk(Chunk& chunk, std::uint64_t* bitmap, bool give_back);
  void add_run(Chunk& chunk, char* begin, char* end, bool give_back);
  void relist(const Chunk& chunk, char* begin, char* end);
  void push_piece(Starts& starts, char* block, std::size_t bytes);

  // The line that every operation touches.
  char* lists_;  // a BlockList for each granule
  char* bump_;
  char* soft_limit_;  // where the slow path looks around; it may lie behind bump_
  // Block size of the chunk that the range is in. 0: blocks differ, or the range is being changed.
  std::uint32_t uniform_;
  plan::Reuse reuse_;
  std::uint64_t allocated_bytes_;
  std::uint64_t freed_left_;  // what may be freed before the slow path decides; and
  std::uint64_t freed_past_;  // this, less that, is what was freed so far

  std::uint64_t allocations_;
  char* limit_;      // end of the current range
  Chunk* current_;   // the chunk that the range is in; null: there is no range
  bool tail_;        // the range is the part of its chunk that was not carved yet
  bool small_tail_;  // and has small pages, so that resident_ is ahead of what was touched
  bool fresh_;       // and its memory was never used
  bool busy_;        // in the slow path: what a signal handler asks for meanwhile is forwarded
  bool huge_pages_;
  std::uint32_t group_;
  std::uint32_t smallest_;  // the block sizes that there are lists for
  std::uint32_t largest_;
  std::uint64_t resident_;  // bytes of pages, as of the last look around
  std::uint64_t chunk_count_;
  std::uint64_t tidied_free_;  // what was free after the last tidying
  std::uint64_t in_vain_;      // the same, without holes that are about to be used
  std::uint64_t tidied_live_;  // what was live then
  std::uint64_t refusals_;
  std::uint64_t refused_free_;  // what was free when a block was last refused
  std::uint32_t refused_;       // and its size; the greatest number: none was
  Chunk* chunks_;               // all of this heap's
  Chunk* hole_chunk_;           // the first that may have holes; those behind it may, too
  ThreadHeap* thread_;
  Chunk* resumable_;  // the last one that was left before its end; null: none
  Chunk* spare_;      // an empty chunk kept for reuse, as the paper does (HALO, section 5.1)
  GroupHeap* next_of_group_;
  std::uint32_t freed_version_;  // odd while freed_left_ and freed_past_ do not fit each other
  alignas(64) std::atomic<Block*> remote_;
};

}  // namespace halo::runtime
