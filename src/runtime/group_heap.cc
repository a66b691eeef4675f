// Bump allocation, block sizes without headers, and where to go on when a range is full.
#include "runtime/group_heap.h"

#include <algorithm>
#include <climits>
#include <cstring>

#include "base/keep_errno.h"
#include "runtime/hole.h"
#include "runtime/starts.h"
#include "runtime/thread_heap.h"

namespace halo::runtime {
namespace {

constexpr int some_holes = 16;
constexpr int all_holes = INT_MAX;

// Bytes, and a sixteenth of what is live, that may be free in pieces before these are split.
constexpr std::size_t most_in_pieces = 64 * 1024;

// Bytes at the end of a chunk that are worth coming back to.
constexpr std::ptrdiff_t least_tail = 16 * 1024;

// Bytes of the pages that a chunk's blocks lie on, where they end at `end`, or that were in memory
// before; without those that were given back.
std::size_t pages_until(const Chunk& chunk, const char* end) {
  if (arena.has_huge_pages(chunk)) return chunk_size;
  const auto bytes = static_cast<std::size_t>(end - arena.first_page_of(chunk));
  const std::size_t all = std::max((bytes + page - 1) / page, std::size_t{chunk.warm_pages});
  return (all - chunk.returned_pages) * page;
}

}  // namespace

void GroupHeap::initialise(ThreadHeap* thread, std::uint32_t group, const plan::Group& settings,
                           std::uint32_t smallest, std::uint32_t largest, BlockList* lists,
                           GroupHeap* next_of_group) {
  thread_ = thread;
  group_ = group;
  smallest_ = smallest;
  largest_ = largest;
  lists_ = reinterpret_cast<char*>(lists);
  next_of_group_ = next_of_group;
  reuse_ = settings.reuse;
  huge_pages_ = (settings.flags & plan::group_huge_pages) != 0;
  refused_ = UINT32_MAX;
  set_freed_limit();
}

std::size_t GroupHeap::mixed_size_of(const Chunk& chunk, const void* p) {
  return Starts(chunk).distance_to_next(p);
}

std::uint64_t GroupHeap::resident_bytes() const {
  // Pages up to the soft limit are accounted for before they are touched.
  // (Another thread may look at this while it changes.)
  const auto ahead = static_cast<std::uint64_t>(soft_limit_ - bump_);
  return small_tail_ && ahead <= soft_step ? resident_ - ahead / page * page : resident_;
}

std::uint64_t GroupHeap::free_bytes() const {
  const std::uint64_t resident = resident_bytes(), live = live_bytes();
  return resident > live ? resident - live : 0;
}

void* GroupHeap::allocate_zeroed(std::uint32_t bytes) {
  const char* before = bump_;
  auto* p = static_cast<char*>(allocate(bytes));
  // Memory just carved from a chunk that nobody used yet is zero already.
  const bool fresh = fresh_ && bump_ != before && bump_ == p + bytes;
  if (p != nullptr && !fresh) std::memset(p, 0, bytes);
  return p;
}

void GroupHeap::recycle(Chunk& chunk) {
  for (Chunk** link = &chunks_; *link != nullptr; link = &(*link)->next_of_heap) {
    if (*link != &chunk) continue;
    *link = chunk.next_of_heap;
    break;
  }
  disown(chunk);
  if (spare_ == nullptr)
    spare_ = &chunk;
  else
    arena.release(&chunk);
}

// An empty chunk that is in the list of this heap's no more.
void GroupHeap::disown(Chunk& chunk) {
  if (chunk.uniform.load(std::memory_order_relaxed) == 0) Starts(chunk).clear_all();
  if (resumable_ == &chunk) resumable_ = nullptr;
  resident_ -= chunk.resident_pages * page;
  --chunk_count_;
}

// From now on that many bytes of the chunk's pages are taken to be in memory.
void GroupHeap::account(Chunk& chunk, std::size_t resident) {
  resident_ += resident;
  resident_ -= chunk.resident_pages * page;
  arena.account(chunk, resident / page);
}

// So many bytes of the chunk's pages are about to be used again.
void GroupHeap::take_back(Chunk& chunk, std::size_t returned) {
  chunk.returned_pages = (chunk.returned_pages - returned / page) & most_pages;
  account(chunk, chunk.resident_pages * page + returned);
}

// Blocks of another size come to a chunk of equal blocks: from now on the bitmap tells sizes.
void GroupHeap::make_mixed(Chunk& chunk) {
  const std::uint32_t step = chunk.uniform.load(std::memory_order_relaxed);
  Starts starts(chunk);
  char* end = arena.frontier_of(chunk);
  for (char* p = arena.begin_of(chunk); p < end; p += step) starts.mark(p);
  starts.mark(end);
  chunk.uniform.store(0, std::memory_order_release);
}

void GroupHeap::move_soft_limit() {
  if (current_ == nullptr) return;
  const std::ptrdiff_t left = limit_ - bump_;
  soft_limit_ = left > static_cast<std::ptrdiff_t>(soft_step) ? bump_ + soft_step : limit_;
  if (reuse_ != plan::Reuse::newest_first) soft_limit_ = bump_;
  if (!tail_) return;
  account(*current_, pages_until(*current_, soft_limit_));
  observe_growth(group_);
}

// Gives up the current range; what is left of a hole can be filled by smaller blocks.
void GroupHeap::leave_range() {
  if (current_ == nullptr) return;
  uniform_ = 0;
  in_this_order();
  Chunk& chunk = *current_;
  char* from = bump_;
  char* to = limit_;
  const bool tail = tail_;
  current_ = nullptr;
  bump_ = soft_limit_ = limit_ = nullptr;
  tail_ = small_tail_ = fresh_ = false;
  if (tail) {
    chunk.frontier = static_cast<std::uint32_t>(from - arena.memory_of(chunk));
    account(chunk, pages_until(chunk, from));
    if (to - from >= least_tail) resumable_ = &chunk;
    if (reuse_ == plan::Reuse::whole_chunks && chunk.live == 0) recycle(chunk);
  } else if (from < to) {
    add_run(chunk, from, to, false);
  }
}

// Goes on in the first hole that has room, of so many.
bool GroupHeap::enter_hole(std::uint32_t bytes, int most_tried) {
  // A multiple of 16 may have to skip a granule.
  const std::size_t room = bytes + granule;
  int tried = 0;
  for (Chunk* chunk = hole_chunk_; chunk != nullptr; chunk = chunk->next_of_heap) {
    Hole* before = nullptr;
    for (Hole* hole = first_hole(*chunk); hole != nullptr; before = hole, hole = next_hole(*hole)) {
      if (++tried > most_tried) return false;
      char* begin = hole->begin();
      char* end = hole->end();
      const std::uint32_t uniform = chunk->uniform.load(std::memory_order_relaxed);
      if (static_cast<std::size_t>(end - begin) < (uniform == bytes ? bytes : room)) continue;
      if (hole->returned() != 0) {
        take_back(*chunk, hole->returned());
        observe_growth(group_);
      }
      if (before == nullptr)
        chunk->holes = hole->next();
      else
        before->set_next(hole->next());
      if (uniform != 0 && uniform != bytes) make_mixed(*chunk);
      const std::uint32_t step = chunk->uniform.load(std::memory_order_relaxed);
      if (step == 0) Starts(*chunk).clear_between(begin, end);
      current_ = chunk;
      bump_ = begin;
      limit_ = end;
      move_soft_limit();
      in_this_order();
      uniform_ = step;
      return true;
    }
    if (chunk->holes == nullptr && chunk == hole_chunk_) hole_chunk_ = chunk->next_of_heap;
  }
  return false;
}

// Goes on with the rest of the chunk that a hole was entered instead of.
// That takes no memory where its pages are huge.
bool GroupHeap::resume_chunk(std::uint32_t bytes, bool grow) {
  Chunk* chunk = resumable_;
  if (chunk == nullptr || chunk->frontier + bytes + 2 * granule > chunk_size) return false;
  if (!grow && !arena.has_huge_pages(*chunk)) return false;
  resumable_ = nullptr;
  current_ = chunk;
  bump_ = arena.frontier_of(*chunk);
  enter_tail(*chunk);
  return true;
}

// From `bump_` to the chunk's end.
void GroupHeap::enter_tail(const Chunk& chunk) {
  tail_ = true;
  small_tail_ = !arena.has_huge_pages(chunk);
  fresh_ = chunk.used_before == 0;
  // The last granule stays free, so that the frontier's bit lies inside the chunk's bitmap.
  limit_ = arena.memory_of(chunk) + chunk_size - granule;
  move_soft_limit();
  in_this_order();
  uniform_ = chunk.uniform.load(std::memory_order_relaxed);
}

bool GroupHeap::enter_chunk(std::uint32_t bytes) {
  const KeepErrno keep;  // a refusal here is not the program's
  Chunk* chunk = spare_;
  if (chunk != nullptr) {
    spare_ = nullptr;
    chunk->used_before = 1;
    chunk->warm_pages = std::max(chunk->warm_pages, chunk->resident_pages);
    arena.account(*chunk, 0);
    chunk->frontier = static_cast<std::uint32_t>(arena.begin_of(*chunk) - arena.memory_of(*chunk));
  } else {
    const bool huge = huge_pages_ && (arena.half_page_of(this) != 0 || may_take_huge_page());
    chunk = arena.acquire(this, thread_, huge ? Pages::huge : Pages::normal);
    if (chunk == nullptr) return false;
  }
  ++chunk_count_;
  chunk->next_of_heap = chunks_;
  chunks_ = chunk;
  current_ = chunk;
  bump_ = arena.begin_of(*chunk);
  chunk->factor = step_factor(bytes);
  chunk->phase_or_next.store(step_phase(bump_, chunk->factor), std::memory_order_relaxed);
  chunk->uniform.store(bytes, std::memory_order_release);
  enter_tail(*chunk);
  return true;
}

void* GroupHeap::carve(std::uint32_t bytes) {
  if (busy_) return nullptr;
  busy_ = true;
  in_this_order();
  void* p = bytes < refused_ ? carve_now(bytes) : carve_refused(bytes);
  in_this_order();
  busy_ = false;
  return p;
}

void* GroupHeap::carve_now(std::uint32_t bytes) {
  if (std::ptrdiff_t{bytes} > soft_limit_ - bump_) [[unlikely]] {
    drain_remote();
    if (void* p = pop(bytes)) return p;
    if (tail_ && is_worth_tidying()) {
      tidy_now(false);
      if (void* p = pop(bytes)) return p;
      if (hole_chunk_ != nullptr) return carve_elsewhere(bytes);
    }
    if (small_tail_ && !may_grow()) return carve_elsewhere(bytes);
    move_soft_limit();
  }
  void* p = carve_range(bytes);
  return p != nullptr ? p : carve_elsewhere(bytes);
}

void* GroupHeap::carve_elsewhere(std::uint32_t bytes) {
  leave_range();
  if (enter_hole(bytes, some_holes))
    if (void* p = carve_range(bytes)) return p;
  if (is_worth_tidying()) {
    tidy_now(false);
    if (void* p = pop(bytes)) return p;
    if (enter_hole(bytes, some_holes))
      if (void* p = carve_range(bytes)) return p;
    in_vain_ = tidied_free_;
  }
  leave_range();
  if (void* p = split(bytes)) return p;
  thread_->tidy_others(this);
  const bool grow = may_grow();
  if (resume_chunk(bytes, grow) || (grow && enter_chunk(bytes)) || enter_hole(bytes, all_holes)) {
    refused_ = UINT32_MAX;
    return carve_range(bytes);
  }
  if (!grow) refuse(bytes);
  return nullptr;
}

// Where much is free, but in pieces that no range can be made of: the front part of the smallest
// larger one that was freed.
void* GroupHeap::split(std::uint32_t bytes) {
  if (free_bytes() < most_in_pieces + live_bytes() / 16) return nullptr;
  for (std::uint32_t size = bytes + granule; size <= largest_; size += granule) {
    Block* first = list_of(size).first;
    if (first == nullptr) continue;
    auto* block = reinterpret_cast<char*>(first);
    const bool skip = bytes % 16 == 0 && reinterpret_cast<std::uintptr_t>(block) % 16 != 0;
    const std::uint32_t front = skip ? granule : 0;
    list_of(size).first = first->next();
    Chunk& chunk = arena.chunk_of(block);
    if (chunk.uniform.load(std::memory_order_relaxed) != 0) make_mixed(chunk);
    Starts starts(chunk);
    starts.mark(block + front);
    starts.mark(block + front + bytes);
    if (front != 0) push_rest(block, front);
    if (size > front + bytes) push_piece(starts, block + front + bytes, size - front - bytes);
    allocated_bytes_ += bytes;
    return given(block + front);
  }
  return nullptr;
}

// From the current range, or nullptr when it has no room.
void* GroupHeap::carve_range(std::uint32_t bytes) {
  if (current_ == nullptr) return nullptr;
  if (uniform_ != 0 && uniform_ != bytes) {
    uniform_ = 0;
    in_this_order();
    if (tail_) current_->frontier = static_cast<std::uint32_t>(bump_ - arena.memory_of(*current_));
    make_mixed(*current_);
    if (!tail_) Starts(*current_).clear_between(bump_, limit_);
  }
  if (uniform_ == 0) return carve_mixed(bytes);
  char* at;
  do {
    at = bump_;
    if (limit_ - at < std::ptrdiff_t{bytes}) return nullptr;
  } while (!replace_at_once(bump_, at, at + bytes));
  ++current_->live;
  allocated_bytes_ += bytes;
  return given(at);
}

// The bit of where the range goes on is set at all times, so the first block to be cut off there
// has its own already.
//
// Blocks of a multiple of 16 are aligned to 16. So that those between them leave no gaps, these are
// cut off in pairs where the range goes on at such a place: the second is as good as freed.
void* GroupHeap::carve_mixed(std::uint32_t bytes) {
  char* at = bump_;
  const bool reuses = reuse_ == plan::Reuse::newest_first;
  const bool aligned = reinterpret_cast<std::uintptr_t>(at) % 16 == 0;
  const bool skip = bytes % 16 == 0 && !aligned;
  const std::size_t needed = bytes + (skip ? granule : 0),
                    room = static_cast<std::size_t>(limit_ - at);
  if (room < needed) return nullptr;
  Starts starts(*current_);
  if (skip) {
    at += granule;
    starts.mark(at);
    if (reuses) push_rest(at - granule, granule);
  }
  bump_ = at + bytes;
  starts.mark(bump_);
  if (reuses && bytes % 16 != 0 && aligned && room >= 2 * std::size_t{bytes}) {
    push(bump_, bytes);
    bump_ += bytes;
    starts.mark(bump_);
  }
  ++current_->live;
  allocated_bytes_ += bytes;
  return given(at);
}

}  // namespace halo::runtime
