// One reserved range of addresses, cut into chunks of 1 MiB; each chunk serves one group of one
// thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace halo::runtime {

class GroupHeap;
class ThreadHeap;

inline constexpr unsigned chunk_shift = 20;
inline constexpr std::size_t chunk_size = std::size_t{1} << chunk_shift;
inline constexpr std::size_t granule = 8;
inline constexpr std::size_t starts_words = chunk_size / granule / 64;

// What is known of a chunk. It lies beside the chunks, not inside: freeing then touches a few dense
// lines instead of one page per chunk, and chunks need no common, cache-hostile start offset.
struct alignas(64) Chunk {
  std::atomic<GroupHeap*> owner;
  const ThreadHeap* thread;  // the owner's: a heap never moves to another thread heap
  // Bytes of every block in this chunk, or 0 where they differ and `starts` tells.
  std::atomic<std::uint32_t> uniform;
  std::uint32_t live;   // objects, kept under Reuse::whole_chunks only; owner's thread alone
  std::uint32_t index;  // position in the arena
  std::atomic<std::uint32_t> next_free;  // index + 1 of the next chunk on the free list
  char* frontier;                        // end of the carved part
  char* begin;                           // first usable byte: the staggered start
  bool used_before;                      // its memory is not zero any more
};
static_assert(sizeof(Chunk) == 64);

// What kind of pages a chunk is backed by. Chunks of a kind lie together, so that a huge page never
// covers a small group's chunk.
enum class Pages : std::uint32_t { normal = 0, huge = 1 };

class Arena {
 public:
  // Reserves `wanted` bytes of addresses, once, or less where that is refused; false when not even
  // the smallest range is to be had.
  bool reserve(std::size_t wanted);

  // True for exactly the addresses inside the reserved range.
  bool contains(const void* p) const {
    return reinterpret_cast<std::uintptr_t>(p) - base_ < __atomic_load_n(&bytes_, __ATOMIC_RELAXED);
  }

  // A chunk for `owner`, or nullptr when memory or addresses are used up. Lock-free.
  Chunk* acquire(GroupHeap* owner, const ThreadHeap* thread, Pages pages);

  // Takes an empty chunk back, for any group that wants the same kind of pages. The memory stays.
  void release(Chunk* chunk);

  Chunk& chunk_of(const void* p) const {
    return chunks_[(reinterpret_cast<std::uintptr_t>(p) - base_) >> chunk_shift];
  }
  char* memory_of(const Chunk& chunk) const {
    return reinterpret_cast<char*>(base_ + (std::size_t{chunk.index} << chunk_shift));
  }
  // One bit per granule: set where a block starts, and at the frontier.
  std::atomic<std::uint64_t>* starts_of(const Chunk& chunk) const {
    return starts_ + std::size_t{chunk.index} * starts_words;
  }

  // Chunks ever taken from the reserved range.
  std::uint32_t chunks_used() const;
  std::uintptr_t base() const { return base_; }
  std::size_t bytes() const { return bytes_; }

 private:
  // The chunks of one kind of pages: a half of the range each.
  struct Region {
    std::uint32_t first;
    std::uint32_t limit;
    std::atomic<std::uint32_t> fresh;  // taken from the range so far
    std::atomic<std::uint64_t> free;   // tag in the upper half against ABA, index + 1 in the lower
  };

  bool commit(std::uint32_t index);
  Chunk* pop_free(Region& region);
  Chunk* take_fresh(Region& region);

  std::uintptr_t base_ = 0;
  std::size_t bytes_ = 0;  // 0: nothing is ours
  Chunk* chunks_ = nullptr;
  std::atomic<std::uint64_t>* starts_ = nullptr;
  Region regions_[2]{};
};

extern constinit Arena arena;

}  // namespace halo::runtime
