// The heap of all groups whose allocations step to a permitted cache set: the mechanism of Yardımcı
// and Kaeli, section 3.3 and figure 3, for comparison with the layouts of pages.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/extra.h"
#include "runtime/extra/bounded_lock.h"
#include "runtime/extra/stepping/free_lists.h"
#include "runtime/heap/page_layout.h"
#include "runtime/heap/remote_frees.h"
#include "runtime/pages/arena.h"

namespace halo::runtime {

// A request takes the first free block whose start its mask permits (free_lists.h), and cuts off
// what it does not need. If there is none, the bump pointer, the paper's wilderness, steps to the
// first permitted start. The bytes that it steps over, the paper's buffer, become a free block at
// once.
//
// A page is a row of blocks in use and free blocks, up to the bump offset or the page's end. Its
// block-start bitmap has all of them, so a block ends at the next start, as in mixed-size pages. A
// freed block absorbs a free block behind it, and none before it: its own start stays a start,
// which its mask permits. A page without blocks in use is released, unless the bump pointer is in
// it.
//
// Concurrency. The heap belongs to all threads; the owner of its pages is `kSteppingOwner`, so the
// fast paths pass them on. The holder of the lock counts as the owner of the heap and of its pages
// (page.h). No thread depends on the lock: without it, an allocation is refused, and so forwarded,
// and a free goes to the ring of remote frees, from which the next holder takes it.
class SteppingHeap {
 public:
  // A block of `bytes`, a multiple of 8, at a start that `mask` permits. nullptr if memory is
  // refused, no page has such a start with room behind it, or the lock is held for too long.
  void* allocate(const StartMask& mask, uint32_t bytes);

  // Frees a block of this heap; ignores an address that is not a used block. Any thread, also in
  // signal handlers.
  void free(void* p);

  // From the first call on, forks happen while this process holds the lock, so that the child finds
  // the heap consistent.
  void survive_forks();

  // Any thread; the numbers may be of slightly different times. Blocks that wait to be freed are
  // not live.
  SteppingCounts counts() const;

 private:
  void drain();
  char* reuse(const StartMask& mask, uint32_t bytes, uint32_t alignment);
  char* step(const StartMask& mask, uint32_t bytes, uint32_t alignment);
  bool open_page();
  void leave_page();
  void release_page(Page& page);
  void account_touched();
  void* serve(char* p, uint32_t bytes);
  void free_block(char* p);
  void add_free(char* p, char* end);

  BoundedLock lock_;
  bool survives_forks_ = false;
  RemoteFrees remote_;
  FreeLists free_;
  // The page that blocks are cut from, and the offset behind the last one, at which the block-start
  // bitmap has a bit; null: none.
  Page* page_ = nullptr;
  uint32_t next_ = 0;
  SteppingCounts counts_{};
  std::atomic<uint64_t> busy_{0};  // refusals without the lock
};

HALO_HIDDEN extern constinit SteppingHeap stepping_heap;

}  // namespace halo::runtime
