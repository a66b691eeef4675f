// The metadata of one page of 64 KiB.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace halo::runtime {

struct FreeList;
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

// What a single-size page serves (equal_pages.cc): the blocks that were returned to it, and a run
// of blocks that were never used.
struct EqualBlocks {
  uintptr_t freed;    // the list of returned blocks; odd: none
  char* run_next;     // the run's next block
  uint16_t run_left;  // blocks of the run
  uint16_t step;      // granules between their starts
  uint16_t used;      // blocks that are neither in the list nor uncut; those of the run are
  uint16_t free;      // blocks in the list
};

// What a mixed-size page has free (mixed_range.h).
struct MixedBlocks {
  FreeList* const* lists;  // the group's lists by size class
  uint64_t free_words;  // summary of the free bitmap: a bit for each two words, clear if both are 0
  uint32_t used;        // blocks in use or in lists
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
// relaxed atomic. All other members are private to the owner, but for the statistics, which may
// read a slightly wrong number of blocks.
struct alignas(64) Page {
  union {
    EqualBlocks equal;  // if `block` is not 0
    MixedBlocks mixed;
  };
  std::atomic<const ThreadHeap*> thread;  // null: no heap owns the page
  GroupHeap* heap;
  FreeList* list;           // of the page's class; null: not a single-size page
  uint32_t block;           // bytes of each block; 0: a mixed-size page
  PageLink next, previous;  // in the page's queue
  // End of the part cut into blocks or runs, in granules from the page's start.
  uint16_t bump_offset;
  uint8_t touched;  // system pages that may have been written to since the last purge
  bool queued : 1;
  bool phase : 1;  // of a single-size page: the tag of the blocks in its list
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
  std::atomic<uint64_t> used;  // used blocks (in use or listed); any other address is an
                               // invalid free
  uint64_t free;               // free blocks; the owner alone reads and writes it
};

}  // namespace halo::runtime
