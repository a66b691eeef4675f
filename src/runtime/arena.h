// One reserved range of addresses, cut into chunks of 1 MiB; each chunk serves one group of one
// thread.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "runtime/block_steps.h"
#include "runtime/exported.h"
#include "runtime/growing_range.h"

namespace halo::runtime {

class Block;
class GroupHeap;
class Hole;
class ThreadHeap;

inline constexpr unsigned chunk_shift = 20;
inline constexpr std::size_t chunk_size = std::size_t{1} << chunk_shift;
inline constexpr std::size_t page = 4096;
inline constexpr std::size_t most_pages = 0x3FF;  // more than a chunk has; fits its bit-field
inline constexpr std::size_t starts_words = chunk_size / granule / 64;

// What is known of a chunk. It lies beside the chunks, not inside: freeing then touches a few dense
// lines instead of one page per chunk, and chunks need no common, cache-hostile start offset.
struct alignas(64) Chunk {
  std::atomic<GroupHeap*> owner;
  const ThreadHeap* thread;  // the owner's: a heap never moves to another thread heap
  // Bytes of every block in this chunk, or 0 where they differ and `starts` tells.
  std::atomic<std::uint32_t> uniform;
  // Blocks in use, kept under Reuse::whole_chunks only; the owner's thread alone.
  std::uint32_t live : 20;
  std::uint32_t huge : 1;             // has huge pages
  std::uint32_t used_before : 1;      // its memory is not zero any more
  std::uint32_t returned_pages : 10;  // given back to the system, inside its holes
  std::uint32_t factor;               // with `uniform`, of its steps
  // With `uniform`, the phase of its first block; without an owner, the number of the next chunk on
  // a free list, plus 1. (Nobody has a block in such a chunk, so nobody takes one for the other.)
  std::atomic<std::uint32_t> phase_or_next;
  std::uint32_t frontier;        // end of the carved part: bytes from the chunk's start
  std::uint16_t resident_pages;  // that its heap takes to be in memory
  std::uint16_t warm_pages;      // of the first, those that were there when its heap came
  Chunk* next_of_heap;
  Block* loose;  // while its heap is tidied: blocks freed in it, chained
  Hole* holes;   // ascending
};
static_assert(sizeof(Chunk) == 64);

// What kind of pages a chunk is backed by. It is the same for the two chunks of 2 MiB that one huge
// page covers, so that none ever covers a small group's chunk.
enum class Pages : std::uint32_t { normal = 0, huge = 1 };

class Arena {
 public:
  // Finds room for a range that can grow to `wanted` bytes, once, or to less where address space is
  // limited, and opens its first 2 MiB; false when not even the smallest range is to be had.
  bool reserve(std::size_t wanted);

  // True for exactly the addresses inside the range, as it is now.
  bool contains(const void* p) const { return index_of(p) < chunk_limit(); }

  // A chunk for `owner`, or nullptr when memory or addresses are used up. Lock-free.
  Chunk* acquire(GroupHeap* owner, const ThreadHeap* thread, Pages pages);

  // Takes an empty chunk back, for any group that wants the same kind of pages. A few of its pages
  // stay in memory, for whoever comes next; the others return to the system.
  void release(Chunk* chunk);

  // A heap says how many pages of its chunk it takes to be in memory from now on.
  void account(Chunk& chunk, std::size_t pages) {
    if (pages == chunk.resident_pages) return;
    owned_pages_.fetch_add(pages - chunk.resident_pages, std::memory_order_relaxed);
    chunk.resident_pages = static_cast<std::uint16_t>(pages);
  }

  // The number of the chunk that `p` lies in, or one that is at least chunk_limit().
  std::uintptr_t index_of(const void* p) const {
    return (reinterpret_cast<std::uintptr_t>(p) - base_) >> chunk_shift;
  }
  // How many chunks fit in the range, as it is now; 0: nothing is ours.
  std::uintptr_t chunk_limit() const { return __atomic_load_n(&chunk_limit_, __ATOMIC_RELAXED); }
  Chunk& chunk_at(std::uintptr_t index) const { return chunks_[index]; }
  std::uint32_t number_of(const Chunk& chunk) const {
    return static_cast<std::uint32_t>(&chunk - chunks_);
  }
  Chunk& chunk_of(const void* p) const { return chunks_[index_of(p)]; }
  char* memory_of(const Chunk& chunk) const {
    return reinterpret_cast<char*>(base_ + (std::size_t{number_of(chunk)} << chunk_shift));
  }
  // The first byte of a chunk that is used: the staggered start.
  char* begin_of(const Chunk& chunk) const;
  // The page that this lies on.
  char* first_page_of(const Chunk& chunk) const;
  char* frontier_of(const Chunk& chunk) const { return memory_of(chunk) + chunk.frontier; }
  bool has_huge_pages(const Chunk& chunk) const { return chunk.huge != 0; }

  // One bit per granule: set where a block starts, and at the frontier.
  std::atomic<std::uint64_t>* starts_of(const Chunk& chunk) const {
    return starts_ + std::size_t{number_of(chunk)} * starts_words;
  }

  // Bytes of a huge page that are in memory for the sake of this heap's chunk in its other half:
  // nobody has taken them yet.
  std::size_t half_page_of(const GroupHeap* heap) const;

  // Addresses inside the range, in granules.
  std::uint64_t granule_limit() const { return __atomic_load_n(&granule_limit_, __ATOMIC_RELAXED); }

  // Bytes from `p`, where a block starts in a chunk of different ones, to the next start if that is
  // in the same word of the bitmap or in the next, else 0; 0 where none starts.
  std::uint64_t size_at_hand(const void* p) const {
    std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(p);
    asm("" : "+r"(offset));  // so that other paths do not keep a copy of what follows
    offset -= base_;
    const std::uint64_t bits = starts_[offset / (64 * granule)].load(std::memory_order_relaxed);
    const std::uint64_t from = bits >> (offset / granule % 64);
    if (from % 2 == 0) [[unlikely]]
      return 0;
    const std::uint64_t behind = from >> 1;
    if (behind != 0) [[likely]]
      return trailing_zeros(behind) * granule + granule;
    asm("" : "+r"(offset));  // what follows is not to be prepared before
    const std::size_t word = offset / (64 * granule) + 1;
    if (word % starts_words == 0) return 0;
    const std::uint64_t after = starts_[word].load(std::memory_order_relaxed);
    if (after == 0) return 0;
    return (64 - offset / granule % 64 + trailing_zeros(after)) * granule;
  }

  // Chunks ever taken from the reserved range.
  std::uint32_t chunks_used() const;
  std::uintptr_t base() const { return base_; }
  std::size_t bytes() const { return chunk_limit() << chunk_shift; }
  // How large the range may become.
  std::size_t most_bytes() const { return most_; }

 private:
  // Of a number that is not 0; in the 64 bits that std::countr_zero's int would have to be made.
  static std::uint64_t trailing_zeros(std::uint64_t number) {
    std::uint64_t count;
    asm("rep bsf %1, %0" : "=r"(count) : "r"(number) : "cc");
    if (count >= 64) __builtin_unreachable();
    return count;
  }

  // Chunks without an owner, newest first.
  struct Stack {
    std::atomic<std::uint64_t> head;  // tag in the upper half against ABA, index + 1 in the lower
  };
  // The chunks of one kind of pages.
  struct Region {
    std::atomic<std::uint32_t>
        half;    // of the last 2 MiB taken, its second chunk's number; 0: taken
    Stack warm;  // memory kept
    Stack cold;  // memory given back
  };

  bool begin_growing(std::size_t most);
  bool reserve_at_once(std::size_t bytes);
  bool grow();
  bool grow_to(std::size_t bytes);
  bool commit(std::uint32_t slab, Pages pages);
  Region& region_of(Pages pages) { return regions_[static_cast<std::uint32_t>(pages)]; }
  Chunk* pop(Stack& stack);
  void push(Stack& stack, Chunk* chunk);
  Chunk* take_fresh(Pages pages);
  Chunk* take_other_half(const Chunk& chunk);
  std::uint64_t keep_pages(const Chunk& chunk, std::uint64_t touched);

  std::uintptr_t base_ = 0;  // here and the next: read by forwarding.cc
  std::uintptr_t chunk_limit_ = 0;
  std::uint64_t granule_limit_ = 0;
  Chunk* chunks_ = nullptr;
  std::atomic<std::uint64_t>* starts_ = nullptr;
  std::size_t most_ = 0;
  bool is_first_open_ = false;  // the first 2 MiB may be written to
  GrowingRange memory_range_;   // and two tables beside it
  GrowingRange chunks_range_;
  GrowingRange starts_range_;
  std::atomic<std::uint32_t> slabs_taken_{0};  // of 2 MiB
  Region regions_[2]{};
  std::atomic<std::uint64_t> owned_pages_{0};  // in memory, as their heaps account for them
  std::atomic<std::uint64_t> warm_pages_{0};   // the same, of chunks without an owner
};

HALO_HIDDEN extern constinit Arena arena;

}  // namespace halo::runtime
