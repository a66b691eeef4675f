// Bump allocation, block sizes without headers, and the two ways of reusing freed memory.
#include "runtime/group_heap.h"

#include <bit>
#include <cstring>

#include "runtime/keep_errno.h"

namespace halo::runtime {
namespace {

// Chunks of a group before it gets huge pages: until then one would waste more than it brings.
constexpr std::uint64_t huge_after = 8;

constexpr std::size_t soft_step = 64 * 1024;  // bytes carved between two looks at remote frees

std::size_t granule_of(const Chunk& chunk, const void* p) {
  return static_cast<std::size_t>(static_cast<const char*>(p) - arena.memory_of(chunk)) / granule;
}

// Only a chunk's owner writes its bits, so a plain read-modify-write is enough.
void mark_start(const Chunk& chunk, const void* p) {
  const std::size_t at = granule_of(chunk, p);
  auto& word = arena.starts_of(chunk)[at / 64];
  word.store(word.load(std::memory_order_relaxed) | (std::uint64_t{1} << (at % 64)),
             std::memory_order_relaxed);
}

}  // namespace

std::size_t GroupHeap::footprint(std::uint32_t max_block) {
  return sizeof(GroupHeap) + (max_block / granule + 1) * sizeof(Block*);
}

void GroupHeap::initialise(ThreadHeap* thread, const plan::Group& group) {
  thread_ = thread;
  reuse_ = group.reuse;
  huge_pages_ = (group.flags & plan::group_huge_pages) != 0;
}

std::size_t GroupHeap::mixed_size_of(const Chunk& chunk, const void* p) {
  const std::size_t start = granule_of(chunk, p);
  const std::atomic<std::uint64_t>* words = arena.starts_of(chunk);
  std::size_t word = (start + 1) / 64;
  std::uint64_t bits = words[word].load(std::memory_order_relaxed) >> ((start + 1) % 64)
                                                                          << ((start + 1) % 64);
  while (bits == 0 && ++word < starts_words) bits = words[word].load(std::memory_order_relaxed);
  if (bits == 0) return granule;  // cannot be: the frontier is marked
  return (word * 64 + static_cast<std::size_t>(std::countr_zero(bits)) - start) * granule;
}

void* GroupHeap::allocate_zeroed(std::uint32_t bytes) {
  const char* before = bump_;
  void* p = allocate(bytes);
  // Memory just carved from a chunk that nobody used yet is zero already.
  const bool fresh = p != nullptr && bump_ != before && !current_->used_before && p >= before;
  if (p != nullptr && !(fresh && bump_ == static_cast<char*>(p) + bytes)) std::memset(p, 0, bytes);
  return p;
}

void GroupHeap::leave(Chunk& chunk) {
  if (--chunk.live == 0 && &chunk != current_) recycle(chunk);
}

void GroupHeap::deallocate_remote(void* p) {
  auto* block = static_cast<Block*>(p);
  Block* head = remote_.load(std::memory_order_relaxed);
  do {
    block->next = head;
  } while (!remote_.compare_exchange_weak(head, block, std::memory_order_release,
                                          std::memory_order_relaxed));
}

void GroupHeap::drain_remote() {
  if (remote_.load(std::memory_order_relaxed) == nullptr) return;
  if (live_bytes_ > peak_bytes_) peak_bytes_ = live_bytes_;
  Block* block = remote_.exchange(nullptr, std::memory_order_acquire);
  while (block != nullptr) {
    Block* next_block = block->next;
    deallocate(arena.chunk_of(block), block);
    block = next_block;
  }
}

void GroupHeap::recycle(Chunk& chunk) {
  if (chunk.uniform.load(std::memory_order_relaxed) == 0) {
    const std::size_t last = granule_of(chunk, chunk.frontier) / 64;
    std::atomic<std::uint64_t>* words = arena.starts_of(chunk);
    for (std::size_t i = 0; i <= last; ++i) words[i].store(0, std::memory_order_relaxed);
  }
  --chunks_;
  if (spare_ == nullptr) {
    spare_ = &chunk;
    return;
  }
  chunk.owner.store(nullptr, std::memory_order_relaxed);
  arena.release(&chunk);
}

void GroupHeap::extend_soft_limit() {
  soft_limit_ =
      limit_ - bump_ > static_cast<std::ptrdiff_t>(soft_step) ? bump_ + soft_step : limit_;
}

// Blocks of another size arrive in a chunk of equal blocks: from now on the bitmap tells sizes.
void GroupHeap::make_mixed() {
  for (char* p = current_->begin; p < bump_; p += uniform_) mark_start(*current_, p);
  mark_start(*current_, bump_);
  uniform_ = 0;
  current_->uniform.store(0, std::memory_order_release);
}

bool GroupHeap::wants_huge_pages() const { return huge_pages_ && chunks_ >= huge_after; }

bool GroupHeap::refill(std::uint32_t bytes) {
  const KeepErrno keep;  // a refusal here is not the program's
  Chunk* chunk = spare_;
  if (chunk != nullptr) {
    spare_ = nullptr;
    chunk->used_before = true;
    chunk->frontier = chunk->begin;
  } else {
    chunk = arena.acquire(this, thread_, wants_huge_pages() ? Pages::huge : Pages::normal);
    if (chunk == nullptr) return false;
  }
  Chunk* full = current_;
  if (full != nullptr) {
    full->frontier = bump_;
    if (reuse_ == plan::Reuse::whole_chunks && full->live == 0) recycle(*full);
  }
  ++chunks_;
  current_ = chunk;
  bump_ = chunk->begin;
  // The last granule stays free, so that the frontier's bit lies inside the chunk's bitmap.
  limit_ = arena.memory_of(*chunk) + chunk_size - granule;
  uniform_ = bytes;
  chunk->uniform.store(bytes, std::memory_order_release);
  extend_soft_limit();
  return true;
}

// The frontier's bit is set at all times, so the first block to be cut off there has its own
// already.
void* GroupHeap::carve_mixed(std::uint32_t bytes) {
  char* at = bump_;
  // Blocks that are a multiple of 16 are aligned to 16; the granule skipped is a block of its own.
  const bool skip = bytes % 16 == 0 && reinterpret_cast<std::uintptr_t>(at) % 16 != 0;
  const std::size_t needed = bytes + (skip ? granule : 0);
  if (static_cast<std::size_t>(limit_ - at) < needed) return nullptr;
  if (skip) {
    if (reuse_ == plan::Reuse::newest_first) {
      auto* skipped = reinterpret_cast<Block*>(at);
      skipped->next = free_list(granule);
      free_list(granule) = skipped;
    }
    at += granule;
    mark_start(*current_, at);
  }
  bump_ = at + bytes;
  mark_start(*current_, bump_);
  ++current_->live;
  return at;
}

void* GroupHeap::carve(std::uint32_t bytes) {
  if (bytes > static_cast<std::size_t>(soft_limit_ - bump_) || bump_ >= soft_limit_) [[unlikely]] {
    if (live_bytes_ > peak_bytes_) peak_bytes_ = live_bytes_;
    drain_remote();
    if (Block* block = free_list(bytes)) {
      free_list(bytes) = block->next;
      return block;
    }
    if (current_ != nullptr) extend_soft_limit();
  }
  if (void* p = carve_current(bytes)) [[likely]]
    return p;
  if (refill(bytes))
    if (void* p = carve_current(bytes)) return p;
  --allocations_;
  live_bytes_ -= bytes;
  return nullptr;
}

// From the current chunk, or nullptr when it has no room.
void* GroupHeap::carve_current(std::uint32_t bytes) {
  if (current_ == nullptr) return nullptr;
  if (uniform_ != 0 && uniform_ != bytes) make_mixed();
  if (uniform_ == 0) return carve_mixed(bytes);
  if (limit_ - bump_ < static_cast<std::ptrdiff_t>(bytes)) return nullptr;
  char* at = bump_;
  bump_ = at + bytes;
  ++current_->live;
  return at;
}

}  // namespace halo::runtime
