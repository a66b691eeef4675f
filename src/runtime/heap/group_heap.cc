// Serving and freeing blocks, as far as it is the same for both page layouts.
#include "runtime/heap/group_heap.h"

#include <algorithm>

#include "runtime/heap/thread_heap.h"
#include "runtime/pages/free_block.h"
#include "runtime/pages/page_bits.h"

namespace halo::runtime {
namespace {

// Initial and maximum number of blocks in a full list. It grows as blocks are returned to pages and
// needed again.
constexpr uint16_t kFirstHalf = 16;
constexpr uint16_t kMaxHalf = 512;
constexpr uint32_t kMaxHalfBytes = 32 * 1024;
constexpr uint16_t kMinHalf = 4;  // for large blocks

// After freeing this many blocks or bytes in a row, a program gets few of them in lists: each may
// keep a page from being released.
constexpr size_t kManyBlocks = 4096;
constexpr size_t kManyBytes = 1024 * 1024;
constexpr uint16_t kReducedHalf = 8;

constexpr uint16_t max_half_for(uint32_t block) {
  return static_cast<uint16_t>(std::clamp<uint32_t>(kMaxHalfBytes / block, kMinHalf, kMaxHalf));
}

void double_half(FreeList& list) {
  list.half = std::min(static_cast<uint16_t>(2 * list.half), max_half_for(list.block));
}

}  // namespace

constinit FreeList no_list{.newest = 1,
                           .room = 0,
                           .block = 0,
                           .unused = &no_page,
                           .older = 1,
                           .older_count = 0,
                           .full = 0,
                           .half = 0,
                           .returned = 0,
                           .out = 0,
                           .serving = 0,
                           .pages = {},
                           .next = nullptr};

void GroupHeap::initialise(ThreadHeap* thread, uint32_t group, const plan::Group& settings,
                           FreeList** lists) {
  thread_ = thread;
  group_ = group;
  lists_ = lists;
  reuse_ = settings.reuse;
  mixed_ = is_mixed(settings);
  huge_pages_ = (settings.flags & plan::kGroupHugePages) != 0;
  layout_ = PageLayout(settings);
}

// Returns nullptr if memory is refused.
FreeList* GroupHeap::list_for(uint32_t block) {
  FreeList*& list = lists_[class_number(block)];
  if (list != &no_list) return list;
  auto* made = static_cast<FreeList*>(thread_->metadata(sizeof(FreeList)));
  if (made == nullptr) return nullptr;
  made->older = list_end();
  made->block = size_class(block);
  made->update_unused();
  made->half = std::min(kFirstHalf, max_half_for(made->block));
  made->clear();
  made->next = first_list_;
  __atomic_store_n(&first_list_, made, __ATOMIC_RELEASE);
  return list = made;
}

// Takes a freed block, or the next one of the run; nullptr if there is none.
void* GroupHeap::take_again(FreeList& list) {
  for (;;) {
    if (void* p = take_listed(list)) return p;
    drop_overwritten(list);
    if (!list.has_older()) return nullptr;
    list.take_older();
  }
}

// Gives the list up if the link of its newest block was overwritten.
void GroupHeap::drop_overwritten(FreeList& list) {
  if (list.newest % 2 != 0) return;
  if (kCheckingBuild) report_overwritten(reinterpret_cast<const void*>(list.newest));
  list.clear();
}

// Lets the empty lists become longer, if blocks were returned to pages and are needed again.
void GroupHeap::grow(FreeList& list) {
  if (list.returned == 0) return;
  list.returned = 0;
  double_half(list);
  list.clear();
}

// Prepares a block for the program: its memory must not look like a freed block.
void* GroupHeap::prepared(void* p) {
  static_cast<Block*>(p)->clear();
  ++allocations_;
  return p;
}

void* GroupHeap::allocate(uint32_t bytes) {
  void* p = uses_bump(bytes) ? allocate_mixed(bytes) : nullptr;
  if (p == nullptr) p = allocate_equal(size_class(bytes));
  if (p != nullptr) return prepared(p);
  ++refusals_;
  return nullptr;
}

// Returns nullptr if single-size pages must serve.
void* GroupHeap::allocate_mixed(uint32_t bytes) {
  if (reuse_ != plan::Reuse::kNewestFirst) return bump_mixed(nullptr, bytes);
  FreeList* const list = list_for(bytes);
  if (list == nullptr) return nullptr;
  if (void* p = take_again(*list)) return p;
  if (void* p = bump_fast(*list)) return p;
  if (thread_->drain_remote())
    if (void* p = take_again(*list)) return p;
  grow(*list);
  if (refill(*list))
    if (void* p = take_again(*list)) return p;
  return bump_mixed(list, bytes);
}

bool GroupHeap::looks_free(const void* p) {
  const auto* block = static_cast<const Block*>(p);
  if (arena.page_of(p).block == 0 && !arena.is_used(p)) return true;
  return block->is_linked() || block->is_free();
}

bool GroupHeap::may_be_in_use(const void* p) {
  const Page& page = arena.page_of(p);
  return (page.block == 0 || starts_block(page, p)) && !looks_free(p);
}

size_t GroupHeap::size_of(const Page& page, const void* p) {
  if (page.block != 0) return page.block;
  return static_cast<size_t>(Starts(page).next_after(p) - static_cast<const char*>(p));
}

// The list of the used block `p`; nullptr if it has none.
FreeList* GroupHeap::list_of(const Page& page, const void* p) const {
  if (page.list != nullptr) return page.list;
  FreeList* const list = lists_[class_number(size_of(page, p))];
  return list == &no_list ? nullptr : list;
}

// Whether the block is in one of the lists, or in that of its page.
bool GroupHeap::is_listed(const FreeList& list, const Page& page, const Block* block) {
  const auto is_behind = [&](uintptr_t at, uint32_t limit) {
    for (uint32_t i = 0; i <= limit && at % 2 == 0; ++i) {
      const auto* each = reinterpret_cast<const Block*>(at);
      if (each == block) return true;
      if (!arena.contains(each) || Block::is_bad(each->step())) return false;
      at = each->behind(each->step());
    }
    return false;
  };
  return is_behind(list.newest, list.full) || is_behind(list.older, list.older_count) ||
         (page.list != nullptr && is_behind(page.equal.freed, page.equal.free));
}

// Whether the program may own the block. It may have copied a link, with the rest of a free block,
// to the start of a used one.
bool GroupHeap::may_be_freed(Page& page, const Block* block) {
  if (reinterpret_cast<uintptr_t>(block) % kGranule != 0) return false;
  if (page.block == 0 ? !arena.is_used(block) : !starts_block(page, block)) return false;
  if (block->is_free()) return false;
  if (!block->is_linked()) return true;
  const FreeList* const list = page.heap->list_of(page, block);
  return list == nullptr || !is_listed(*list, page, block);
}

void GroupHeap::deallocate(Page& page, void* p) {
  auto* const block = static_cast<Block*>(p);
  if (!may_be_freed(page, block)) return;
  FreeList* const list = list_of(page, p);
  if (list == nullptr) return return_block(page, block);
  if (put_listed(*list, p)) spill(*list);
}

void GroupHeap::deallocate_to_page(Page& page, void* p) {
  auto* const block = static_cast<Block*>(p);
  if (may_be_freed(page, block)) return_block(page, block);
}

// Returns a block to its single-size page.
[[gnu::always_inline]] inline void GroupHeap::return_equal(FreeList& list, Page& page,
                                                           Block* block) {
  block->link_in_page(page.equal.freed, page.phase);
  page.equal.freed = reinterpret_cast<uintptr_t>(block);
  ++page.equal.free;
  --list.out;
  if (--page.equal.used == 0 || !page.queued) [[unlikely]]
    settle(list, page);
}

// Returns a used block to its page.
void GroupHeap::return_block(Page& page, Block* block) {
  if (page.list != nullptr) return return_equal(*page.list, page, block);
  return_mixed(page, block, static_cast<uint32_t>(size_of(page, block)));
}

// Returns the blocks of a list of that class to their pages. A block that was freed twice may be in
// its page already, or in a page of another heap: the list ends there.
void GroupHeap::return_all(FreeList& list, uintptr_t newest, uint32_t count) {
  list.count_returned(count);
  for (uintptr_t at = newest; count != 0 && at % 2 == 0; --count) {
    auto* const block = reinterpret_cast<Block*>(at);
    if (!arena.contains(block)) return;
    const uintptr_t step = block->step();
    Page& page = arena.page_of(block);
    const bool is_equal = page.list == &list;
    const bool is_in_page =
        Block::is_of_page(step) && (!is_equal || Block::phase_of(step) == page.phase);
    if (Block::is_bad(step) || is_in_page || (!is_equal && page.heap != this)) {
      if (kCheckingBuild) report_overwritten(block);
      return;
    }
    at = block->behind(step);
    if (is_equal) [[likely]]
      return_equal(list, page, block);
    else
      return_mixed(page, block, list.block);
  }
}

void GroupHeap::spill(FreeList& list) {
  const bool swings = !list.has_older();  // it has served since the list was full
  return_all(list, list.older, list.older_count);
  const uintptr_t newest = list.newest;
  const uint32_t count = list.full;
  const bool many = list.returned >= kManyBlocks || list.returned >= kManyBytes / list.block;
  if (many && list.half > kReducedHalf) {
    list.set_older(list_end(), 0);
    return_all(list, newest, count);
    list.half = kReducedHalf;
  } else {
    list.set_older(newest, count);
    if (swings && !many) double_half(list);
  }
  list.clear();
}

void GroupHeap::flush() {
  for (FreeList* list = first_list_; list != nullptr; list = list->next) {
    return_all(*list, list->newest, uint32_t{list->full} - list->room);
    return_all(*list, list->older, list->older_count);
    list->set_older(list_end(), 0);
    list->clear();
    stop_serving(*list);
  }
  leave_empty_page();
}

// Returns a page without blocks; nullptr if no memory is available.
Page* GroupHeap::add_page() {
  observe_growth(group_);
  Page* page = arena.acquire(huge_pages_ ? PageKind::kHuge : PageKind::kNormal);
  if (page == nullptr) return nullptr;
  arena.bits_of(*page)->free = 0;  // a first access that reads would fault twice
  page->heap = this;
  page->list = nullptr;
  set_bump_offset(*page, 0);
  page->queued = false;
  ++pages_;
  resident_ += page->touched;
  return page;
}

// The page's bitmaps must be clear, and it must not be queued.
void GroupHeap::drop_page(Page& page) {
  --pages_;
  resident_ -= page.touched;
  page.heap = nullptr;
  page.list = nullptr;  // the fast path of free then asks for used blocks, of which it has none
  page.block = 0;
  arena.release(page);
}

// Counts the system pages below the bump offset as touched.
void GroupHeap::account_touched(Page& page) {
  const size_t bytes = std::min(page.bump_offset * kGranule, kPageSize);
  const size_t touched = (bytes + kSystemPage - 1) / kSystemPage;
  if (touched <= page.touched) return;
  resident_ += touched - page.touched;
  page.touched = static_cast<uint8_t>(touched);
}

uint64_t GroupHeap::used_mixed_bytes() const {
  return range_.cut_bytes() - __atomic_load_n(&returned_bytes_, __ATOMIC_RELAXED);
}

uint64_t GroupHeap::live_bytes() const {
  uint64_t used = used_mixed_bytes(), listed = 0;
  const FreeList* list = __atomic_load_n(&first_list_, __ATOMIC_ACQUIRE);
  for (; list != nullptr; list = list->next) {
    const PageLink serving = __atomic_load_n(&list->serving, __ATOMIC_RELAXED);
    const uint64_t unused =
        serving == 0 ? 0
                     : __atomic_load_n(&arena.page_of(serving).equal.run_left, __ATOMIC_RELAXED);
    used += uint64_t{__atomic_load_n(&list->out, __ATOMIC_RELAXED)} * list->block;
    listed += (list->count() + unused) * list->block;
  }
  return used > listed ? used - listed : 0;
}

}  // namespace halo::runtime
