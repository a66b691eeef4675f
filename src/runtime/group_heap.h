// One thread's part of one group: bump allocation in chunks, and the blocks freed so far.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "plan/format.h"
#include "runtime/arena.h"

namespace halo::runtime {

class ThreadHeap;

// Bytes of the block that serves `size` bytes: a multiple of 8. The block is aligned to the largest
// power of two that divides it, at most 16; `alignment` 16 forces that much.
inline std::uint32_t block_bytes(std::size_t size, std::uint32_t alignment) {
  const std::size_t step = alignment >= 16 ? 16 : granule;
  const std::size_t rounded = (size + step - 1) & ~(step - 1);
  return static_cast<std::uint32_t>(rounded == 0 ? step : rounded);
}

class GroupHeap {
 public:
  // Lives in zeroed memory of `footprint(largest block)` bytes.
  void initialise(ThreadHeap* thread, const plan::Group& group);
  static std::size_t footprint(std::uint32_t max_block);

  // A block of `bytes` (from block_bytes), or nullptr when no chunk is to be had. The owner only.
  void* allocate(std::uint32_t bytes) {
    Block*& head = free_list(bytes);
    ++allocations_;
    live_bytes_ += bytes;
    if (Block* block = head) [[likely]] {
      head = block->next;
      return block;
    }
    char* at = bump_;
    if (bytes == uniform_ && bytes <= static_cast<std::size_t>(soft_limit_ - at)) [[likely]] {
      bump_ = at + bytes;
      ++current_->live;
      return at;
    }
    return carve(bytes);
  }

  // Same as allocate, zeroed.
  void* allocate_zeroed(std::uint32_t bytes);

  // Frees a block of this heap; the owner only.
  void deallocate(Chunk& chunk, void* p) {
    const std::uint32_t uniform = chunk.uniform.load(std::memory_order_relaxed);
    const std::size_t bytes = uniform != 0 ? uniform : mixed_size_of(chunk, p);
    live_bytes_ -= bytes;
    if (reuse_ != plan::Reuse::newest_first) [[unlikely]]
      return leave(chunk);
    auto* block = static_cast<Block*>(p);
    Block*& head = free_list(bytes);
    block->next = head;
    head = block;
  }

  // Frees a block of this heap from any other thread. Lock-free.
  void deallocate_remote(void* p);

  // Bytes of the block at `p`; any thread that may use the block.
  static std::size_t size_of(const Chunk& chunk, const void* p) {
    const std::uint32_t uniform = chunk.uniform.load(std::memory_order_acquire);
    return uniform != 0 ? uniform : mixed_size_of(chunk, p);
  }

  const ThreadHeap* thread() const { return thread_; }
  std::uint64_t allocations() const { return allocations_; }
  std::uint64_t live_bytes() const { return live_bytes_; }
  std::uint64_t peak_bytes() const { return peak_bytes_ > live_bytes_ ? peak_bytes_ : live_bytes_; }
  std::uint64_t chunks() const { return chunks_; }

 private:
  struct Block {
    Block* next;
  };

  // The freed blocks of that size; the lists follow this object in its memory.
  Block*& free_list(std::size_t bytes) {
    return reinterpret_cast<Block**>(this + 1)[bytes / granule];
  }

  static std::size_t mixed_size_of(const Chunk& chunk, const void* p);
  void leave(Chunk& chunk);
  void* carve(std::uint32_t bytes);
  void* carve_current(std::uint32_t bytes);
  void* carve_mixed(std::uint32_t bytes);
  bool wants_huge_pages() const;
  bool refill(std::uint32_t bytes);
  void drain_remote();
  void make_mixed();
  void recycle(Chunk& chunk);
  void extend_soft_limit();

  char* bump_;
  char* soft_limit_;  // where the slow path looks at remote frees; at most limit_
  char* limit_;
  std::uint32_t uniform_;  // the current chunk's block size, 0 where blocks differ
  plan::Reuse reuse_;
  bool huge_pages_;
  Chunk* current_;
  std::uint64_t allocations_;
  std::uint64_t live_bytes_;
  std::uint64_t peak_bytes_;
  std::uint64_t chunks_;
  ThreadHeap* thread_;
  Chunk* spare_;  // an empty chunk kept for reuse, as the paper does (HALO, section 5.1)
  alignas(64) std::atomic<Block*> remote_;
};

}  // namespace halo::runtime
