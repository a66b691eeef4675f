// Freeing where it is not quickly done: what was freed is counted, blocks that other threads freed
// are taken over, and now and then it may have become enough to give memory back.
#include "runtime/group_heap.h"
#include "runtime/starts.h"

namespace halo::runtime {

namespace {

// Whether a block starts there, or ends the part carved so far.
bool is_start(const Chunk& chunk, const void* p) {
  if (reinterpret_cast<std::uintptr_t>(p) % granule != 0) return false;
  const std::uint32_t uniform = chunk.uniform.load(std::memory_order_acquire);
  if (uniform == 0) return Starts(chunk).is_marked(p);
  const char* begin = arena.begin_of(chunk);
  const auto* at = static_cast<const char*>(p);
  return at >= begin && static_cast<std::size_t>(at - begin) % uniform == 0;
}

}  // namespace

bool GroupHeap::may_be_in_use(const Chunk& chunk, const void* p) {
  return is_start(chunk, p) && !static_cast<const Block*>(p)->is_free();
}

// Whether `p` lies in the part of the chunk that was cut into blocks.
bool GroupHeap::is_carved(const Chunk& chunk, const void* p) const {
  const auto* at = static_cast<const char*>(p);
  if (&chunk != current_) return at < arena.frontier_of(chunk);
  return at < bump_ || (at >= limit_ && at < arena.frontier_of(chunk));
}

void GroupHeap::deallocate(Chunk& chunk, void* p) {
  if (!may_be_in_use(chunk, p) || !is_carved(chunk, p)) return;
  const std::size_t bytes = size_of(chunk, p);
  if (bytes > largest_ || list_of(bytes).first == p) return;  // not a block of ours
  const bool enough = bytes > freed_left_;
  count_freed(bytes);
  if (reuse_ != plan::Reuse::newest_first) {
    static_cast<Block*>(p)->set_next(nullptr);
    return leave_block(chunk);
  }
  push(p, bytes);
  if (!enough || busy_) return;
  if (is_untidy() && may_return()) tidy(true);
  set_freed_limit();
}

// Where a program only frees, sorting serves to return memory: a chunk and a fourth of what is live
// has to be free, and twice what the last time found no way to return, as each time costs as much
// as is free; or else next to nothing is left alive of what was then.
bool GroupHeap::may_return() const {
  const std::uint64_t free = free_bytes();
  const bool empty = live_bytes() <= tidied_live_ / 16 && free >= chunk_size;
  return empty || free >= enough_to_return();
}

std::uint64_t GroupHeap::enough_to_return() const {
  const std::uint64_t enough = chunk_size + live_bytes() / 4;
  return enough > 2 * tidied_free_ ? enough : 2 * tidied_free_;
}

// The next look at what is free comes when it may have become enough to return, or where little is
// left alive.
void GroupHeap::set_freed_limit() {
  if (reuse_ != plan::Reuse::newest_first) return;  // 0: every block is left by the slow path
  const std::uint64_t enough = enough_to_return(), now = free_bytes();
  const std::uint64_t least = chunk_size / 4 + tidied_free_ / 4;
  const std::uint64_t few = chunk_size / 4 + live_bytes() / 2;
  const std::uint64_t next = enough > now + least ? enough - now : least;
  allow_freed(next < few ? next : few);
}

void GroupHeap::allow_freed(std::uint64_t left) {
  freed_version_ += 1;
  in_this_order();
  freed_past_ += left - freed_left_;
  freed_left_ = left;
  in_this_order();
  freed_version_ += 1;
}

void GroupHeap::count_freed(std::uint64_t bytes) {
  if (freed_left_ < bytes) allow_freed(bytes);
  freed_left_ -= bytes;
}

std::uint64_t GroupHeap::freed_bytes() const {
  // The owner may be in the middle of a change for ever, seen from a signal's handler.
  constexpr int most_tries = 1000;
  std::uint64_t freed = 0;
  for (int i = 0; i < most_tries; ++i) {
    const std::uint32_t version = __atomic_load_n(&freed_version_, __ATOMIC_ACQUIRE);
    const std::uint64_t past = __atomic_load_n(&freed_past_, __ATOMIC_ACQUIRE);
    freed = past - __atomic_load_n(&freed_left_, __ATOMIC_ACQUIRE);
    if (version % 2 == 0 && __atomic_load_n(&freed_version_, __ATOMIC_RELAXED) == version) break;
  }
  return freed;
}

void GroupHeap::deallocate_remote(const Chunk& chunk, void* p) {
  if (!may_be_in_use(chunk, p)) return;
  auto* block = static_cast<Block*>(p);
  Block* head = remote_.load(std::memory_order_relaxed);
  do {
    if (head == block) return;
    block->set_next(head);
  } while (!remote_.compare_exchange_weak(head, block, std::memory_order_release,
                                          std::memory_order_relaxed));
}

void GroupHeap::drain_remote() {
  if (remote_.load(std::memory_order_relaxed) == nullptr) return;
  // Blocks that were freed twice may come again and again.
  std::uint64_t left = chunk_count_ * chunk_size;
  Block* block = remote_.exchange(nullptr, std::memory_order_acquire);
  while (block != nullptr) {
    Block* next_block = block->next();
    Chunk& chunk = arena.chunk_of(block);
    if (chunk.owner.load(std::memory_order_relaxed) != this) return;
    const std::size_t bytes = size_of(chunk, block);
    if (bytes > left) return;
    left -= bytes;
    if (bytes <= largest_ && is_start(chunk, block) && is_carved(chunk, block)) {
      count_freed(bytes);
      if (reuse_ == plan::Reuse::newest_first) {
        push(block, bytes);
      } else {
        block->set_next(nullptr);
        leave_block(chunk);
      }
    }
    block = next_block;
  }
}

// Whole-chunk reuse: nothing in a chunk is used again until all of it is free.
void GroupHeap::leave_block(Chunk& chunk) {
  if (--chunk.live == 0 && &chunk != current_) recycle(chunk);
}

}  // namespace halo::runtime
