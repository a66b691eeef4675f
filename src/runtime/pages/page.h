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

// It is stored in a table behind the pages, so a free touches one dense line of the table and the
// block itself.
//
// A page is owned by the thread heap in `thread`; only its thread, while inside the heap, writes
// the entry.
//
// Another thread reads `thread` at any time, to find the owner. The owner stores it with release
// after it has initialised the entry, and null before it releases the page. A thread that holds a
// block of the page also reads `block`, and in the checking build `heap`. Both are constant while a
// block of the page is in use, and the hand-over of the block orders them. All other members are
// private to the owner.
struct alignas(64) Page {
  BlockCache* cache;                      // single-size page: the cache of its blocks; mixed-size
                                          // page: null
  BlockCache* const* caches;              // mixed-size page: the group's caches by size class
  std::atomic<const ThreadHeap*> thread;  // null: no heap owns the page
  GroupHeap* heap;
  uint64_t free_words;      // summary of the free bitmap: a bit for each two words, clear if both
                            // are 0
  uint32_t block;           // bytes of each block; 0: a mixed-size page
  uint32_t used;            // blocks in use, cached, or in a cache's run
  PageLink next, previous;  // in the page's queue
  // End of the part cut into blocks or runs, in granules from the page's start.
  uint16_t bump_offset;
  // Mixed-size pages, in granules: the amount that the free bitmap holds, and the amount from which
  // the page is queued for reuse.
  uint16_t free;
  uint16_t reuse_from;
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
