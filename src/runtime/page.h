// What is known of 64 KiB of the arena. It lies beside the pages, not inside: freeing touches one
// dense line here, and the block itself.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/block_steps.h"

namespace halo::runtime {

class BlockCache;
class GroupHeap;
class ThreadHeap;

inline constexpr unsigned page_shift = 16;
inline constexpr std::size_t page_size = std::size_t{1} << page_shift;
inline constexpr std::size_t page_words = page_size / granule / 64;  // of a bit for each granule
inline constexpr std::size_t system_page = 4096;

// The number of a page, plus 1; 0: none.
using PageLink = std::uint32_t;

// The owner's thread writes it. Another thread may read `thread` at any time, and while it holds a
// block of the page also `factor`, `phase` and `block`, which do not change as long as one is in
// use, and `carved`, which then does not become less than to include it.
struct alignas(64) Page {
  BlockCache* cache;                      // that its blocks go to, if they are equal; else null
  std::atomic<const ThreadHeap*> thread;  // null: the page is in no heap
  GroupHeap* heap;
  std::uint64_t free_words;  // a bit for each two words of its free bitmap; set: not both are 0
  std::uint32_t factor;      // of the steps from block to block (block_steps.h); 0: not even steps
  std::uint32_t phase;       // of the first block
  std::uint32_t block;       // bytes of each block; 0: they differ (a mixed page)
  std::uint32_t out;         // blocks that are not in the free bitmap
  PageLink next, previous;   // in the queue that it is in
  // In granules, from the page's start on: what was cut into blocks.
  std::uint16_t carved;
  // Of a mixed page, in granules: what the free bitmap has, and how much that is to be before the
  // page is looked at again.
  std::uint16_t free;
  std::uint16_t worth_while;
  std::uint8_t touched;  // system pages that were written to since they were last given back
  bool queued;
};
static_assert(sizeof(Page) == 64);

// Whether `p`, a multiple of granules inside the page, lies in the part that was cut into blocks:
// the range begins at a multiple of the page size.
inline bool is_carved(const Page& page, const void* p) {
  return reinterpret_cast<std::uintptr_t>(p) % page_size / granule <
         __atomic_load_n(&page.carved, __ATOMIC_RELAXED);
}

// From the page's start on, that many bytes are cut.
inline void set_carved(Page& page, std::size_t bytes) {
  __atomic_store_n(&page.carved, static_cast<std::uint16_t>(bytes / granule), __ATOMIC_RELAXED);
}

}  // namespace halo::runtime
