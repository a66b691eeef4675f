// The metadata of one page of 64 KiB.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace halo::runtime {

class BlockCache;
class GroupHeap;
class ThreadHeap;

inline constexpr size_t kGranule = 8;  // bytes: the unit of block addresses and sizes
inline constexpr unsigned kPageShift = 16;
inline constexpr size_t kPageSize = size_t{1} << kPageShift;
inline constexpr size_t kPageWords = kPageSize / kGranule / 64;  // words of a bitmap with one
                                                                 // bit for each granule
inline constexpr size_t kSystemPage = 4096;

// The owner of the stepping heap's pages (extra/stepping): no thread. It is never dereferenced.
inline ThreadHeap* const kSteppingOwner = reinterpret_cast<ThreadHeap*>(1);

// Whether the owner of a page is a thread's heap.
inline bool is_thread(const ThreadHeap* owner) { return reinterpret_cast<uintptr_t>(owner) > 1; }

// The index of a page plus 1; 0 is not a page.
using PageLink = uint32_t;

// What a single-size page serves: freed blocks, newest first, and the rest of the last run that was
// opened in it (equal_pages.h).
struct EqualBlocks {
  uintptr_t freed;   // the newest freed block; odd: none
  char* run_next;    // the run's next block
  uint32_t run_end;  // low half of the address behind the run; equal to that of `run_next`: no rest
  // Frees until the owner must settle the page; see `hidden`.
  uint32_t countdown;
  // Blocks in use that `countdown` does not count. -1: the page serves allocations, and one free
  // too many is counted. Of a full page, all but one: its next free makes `countdown` 0.
  int16_t hidden;
  uint16_t step;  // granules between the starts of the run's blocks
};

// What a mixed-size page has free (mixed_range.h).
struct MixedBlocks {
  BlockCache* const* caches;  // the group's caches by size class
  uint64_t free_words;  // summary of the free bitmap: a bit for each two words, clear if both are 0
  uint32_t used;        // blocks in use or cached
  // In granules: the amount that the free bitmap holds, and the amount from which the page is
  // queued for reuse.
  uint16_t free;
  uint16_t reuse_from;
};

// It is stored in a table behind the pages, so a free touches one dense line of the table and the
// block itself.
//
// A page is owned by the thread heap in `thread`; only its thread, while inside the heap, writes
// the entry.
//
// Another thread reads `thread` at any time, to find the owner. The owner stores it with release
// after it has initialised the entry, and null before it releases the page. A thread that holds a
// block of the page also reads `block` and `heap`. They are constant while a block of the page is
// in use, and the hand-over of the block orders them. It reads `run_next`, which only grows, by a
// relaxed atomic. All other members are private to the
// owner, but for the statistics, which may read a slightly wrong number of blocks.
struct alignas(64) Page {
  union {
    EqualBlocks equal;  // if `block` is not 0
    MixedBlocks mixed;
  };
  std::atomic<const ThreadHeap*> thread;  // null: no heap owns the page
  GroupHeap* heap;
  uint32_t block;           // bytes of each block; 0: a mixed-size page
  PageLink next, previous;  // in the page's queue
  // End of the part cut into blocks or runs, in granules from the page's start.
  uint16_t bump_offset;
  uint8_t touched;  // system pages that may have been written to since the last purge
  bool queued;
};
static_assert(sizeof(Page) == 64);

// Sets the end of the cut part, in bytes from the page's start.
inline void set_bump_offset(Page& page, size_t bytes) {
  page.bump_offset = static_cast<uint16_t>(bytes / kGranule);
}

// The state of the blocks that start in 64 granules, one bit for each granule. Only the page's
// owner writes, so relaxed load and store are enough and no bit is lost. Other threads read `used`
// only for a block that they hold, whose bit is stable until they free it.
struct BlockBits {
  std::atomic<uint64_t> used;  // used blocks (in use or cached); any other address is an
                               // invalid free
  uint64_t free;               // free blocks; the owner alone reads and writes it
};

}  // namespace halo::runtime
