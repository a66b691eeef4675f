// What is known of 64 KiB of the arena. It lies beside the pages, not inside: freeing touches one
// dense line here, and the block itself.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace halo::runtime {

class BlockCache;
class GroupHeap;
class ThreadHeap;

inline constexpr std::size_t granule =
    8;  // bytes: what starts and sizes of blocks are multiples of
inline constexpr unsigned page_shift = 16;
inline constexpr std::size_t page_size = std::size_t{1} << page_shift;
inline constexpr std::size_t page_words = page_size / granule / 64;  // of a bit for each granule
inline constexpr std::size_t system_page = 4096;

// The number of a page, plus 1; 0: none.
using PageLink = std::uint32_t;

// The owner's thread writes it. Another thread may read `thread` at any time, and while it holds a
// block of the page also `block`, which does not change as long as one is in use.
struct alignas(64) Page {
  BlockCache* cache;                      // that its blocks go to, if they are equal; else null
  BlockCache* const* caches;              // those of its group, by class, if they are not
  std::atomic<const ThreadHeap*> thread;  // null: the page is in no heap
  GroupHeap* heap;
  std::uint64_t free_words;  // a bit for each two words of its free bitmap; set: not both are 0
  std::uint32_t block;       // bytes of each block; 0: they differ (a mixed page)
  std::uint32_t out;         // blocks that are in use, in a cache, or ready in a run
  PageLink next, previous;   // in the queue that it is in
  // In granules, from the page's start on: what was cut into blocks, or is ready in a run.
  std::uint16_t carved;
  // Of a mixed page, in granules: what the free bitmap has, and how much that is to be before the
  // page is looked at again.
  std::uint16_t free;
  std::uint16_t worth_while;
  std::uint8_t touched;  // system pages that may have been written to since they were given back
  bool queued;
};
static_assert(sizeof(Page) == 64);

// From the page's start on, that many bytes are cut.
inline void set_carved(Page& page, std::size_t bytes) {
  page.carved = static_cast<std::uint16_t>(bytes / granule);
}

// Of the blocks that start in 64 granules, a bit for each. Only the page's owner writes them, so a
// plain read-modify-write is enough; others may look for a block that they hold.
struct BlockBits {
  std::atomic<std::uint64_t> out;  // those in use or in a cache: no other place is one to free
  std::uint64_t free;              // those that are neither
};

}  // namespace halo::runtime
