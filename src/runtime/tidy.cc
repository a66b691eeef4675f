// Tidying a group heap: what was freed is sorted by address, neighbours become one, and empty
// chunks and pages are given back.
#include <sys/mman.h>

#include <bit>
#include <cstring>

#include "base/keep_errno.h"
#include "runtime/group_heap.h"
#include "runtime/hole.h"
#include "runtime/starts.h"
#include "runtime/thread_heap.h"

namespace halo::runtime {
namespace {

// A run of free blocks this long is filled in order again; shorter ones are used block by block.
constexpr std::size_t least_hole = 1024;
// Any request that is likely fits into a hole this long.
constexpr std::size_t least_useful = 16 * 1024;
// Pages inside a run this long are given back when memory is wanted elsewhere.
constexpr std::size_t least_return = 64 * 1024;

// A bit for each granule of one chunk: set where it is free.
class FreeMap {
 public:
  FreeMap(std::uint64_t* words, const Chunk& chunk)
      : words_(words), memory_(arena.memory_of(chunk)) {}

  bool has(const void* p) const {
    const std::size_t at = granule_of(p);
    return (words_[at / 64] >> (at % 64)) % 2 != 0;
  }

  void add(const void* p, std::size_t bytes) {
    std::size_t at = granule_of(p);
    for (const std::size_t stop = at + bytes / granule; at < stop;) {
      const std::size_t first = at % 64;
      const std::size_t count = stop - at < 64 - first ? stop - at : 64 - first;
      const std::uint64_t ones = count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
      words_[at / 64] |= ones << first;
      at += count;
    }
    total_ += bytes;
  }

  std::size_t total() const { return total_; }

  // Finds the last run that ends at or before `limit`; false when there is none.
  bool last_run(char* limit, char*& begin, char*& end) const {
    std::size_t at = granule_of(limit);
    at = back_to(at, ~std::uint64_t{0});  // past what is not free
    if (at == 0) return false;
    end = memory_ + at * granule;
    begin = memory_ + back_to(at, 0) * granule;
    return true;
  }

  void clear() { std::memset(words_, 0, starts_words * sizeof *words_); }

 private:
  std::size_t granule_of(const void* p) const {
    return static_cast<std::size_t>(static_cast<const char*>(p) - memory_) / granule;
  }

  // The least `n` such that granules n to at − 1 are all taken (`wanted` all ones) or all free (0).
  std::size_t back_to(std::size_t at, std::uint64_t wanted) const {
    while (at > 0) {
      const std::size_t last = at - 1;
      // Ones mark where to stop.
      const std::uint64_t stops = (wanted == 0 ? ~words_[last / 64] : words_[last / 64]) &
                                  (~std::uint64_t{0} >> (63 - last % 64));
      if (stops != 0)
        return last / 64 * 64 + 64 - static_cast<std::size_t>(std::countl_zero(stops));
      at = last / 64 * 64;
    }
    return 0;
  }

  std::uint64_t* words_;
  char* memory_;
  std::size_t total_ = 0;
};

}  // namespace

bool GroupHeap::has_freed(std::uint64_t since) {
  if (reuse_ != plan::Reuse::newest_first) return false;
  drain_remote();
  return free_bytes() >= since + since / 4 + chunk_size / 16 + live_bytes() / 16;
}

bool GroupHeap::is_worth_tidying() { return has_freed(in_vain_); }

bool GroupHeap::is_untidy() {
  if (busy_) return false;
  // Where most of what was live then is gone, chunks are likely to be empty.
  const std::uint64_t live = live_bytes();
  const bool deserted = live < tidied_live_ / 4 && free_bytes() >= chunk_size / 4 + live / 16;
  return deserted || has_freed(tidied_free_);
}

void GroupHeap::tidy(bool give_back) {
  if (reuse_ != plan::Reuse::newest_first || busy_) return;
  busy_ = true;
  in_this_order();
  tidy_now(give_back);
  in_this_order();
  busy_ = false;
}

void GroupHeap::tidy_now(bool give_back) {
  const KeepErrno keep;
  std::uint64_t* bitmap = thread_->scratch();
  scatter_lists();
  for (Chunk** link = &chunks_; *link != nullptr;) {
    Chunk& chunk = **link;
    const bool changed = chunk.loose != nullptr || (give_back && chunk.holes != nullptr);
    if (changed && sort_chunk(chunk, bitmap, give_back)) {
      *link = chunk.next_of_heap;
      disown(chunk);
      arena.release(&chunk);
    } else {
      link = &chunk.next_of_heap;
    }
  }
  hole_chunk_ = nullptr;
  tidied_free_ = in_vain_ = free_bytes();
  for (Chunk* chunk = chunks_; chunk != nullptr; chunk = chunk->next_of_heap) {
    if (hole_chunk_ == nullptr && chunk->holes != nullptr) hole_chunk_ = chunk;
    for (Hole* hole = first_hole(*chunk); hole != nullptr; hole = next_hole(*hole)) {
      const std::size_t bytes = hole->bytes();
      const std::size_t here = bytes - hole->returned();
      if (bytes >= least_useful) in_vain_ -= here < in_vain_ ? here : in_vain_;
    }
  }
  tidied_live_ = live_bytes();
  refused_ = UINT32_MAX;
  set_freed_limit();
}

// Takes every block from the lists by size and hangs it on its chunk. A list that holds a block
// twice may have no end, but comes to more than there are chunks for.
void GroupHeap::scatter_lists() {
  std::uint64_t left = chunk_count_ * chunk_size;
  for (std::uint32_t bytes = smallest_; bytes <= largest_; bytes += granule) {
    Block*& first = list_of(bytes).first;
    Block* block = first;
    first = nullptr;
    while (block != nullptr && left >= bytes) {
      left -= bytes;
      Block* rest = block->next();
      Chunk& chunk = arena.chunk_of(block);
      block->set_next(chunk.loose);
      chunk.loose = block;
      block = rest;
    }
  }
}

// Makes holes and lists out of what is free in the chunk; true where that is all of it.
bool GroupHeap::sort_chunk(Chunk& chunk, std::uint64_t* bitmap, bool give_back) {
  FreeMap map(bitmap, chunk);
  std::size_t returned = 0;
  for (Block* block = chunk.loose; block != nullptr && !map.has(block); block = block->next())
    map.add(block, size_of(chunk, block));
  for (Hole* hole = first_hole(chunk); hole != nullptr; hole = next_hole(*hole)) {
    map.add(hole->begin(), hole->bytes());
    returned += hole->returned();
  }
  chunk.loose = nullptr;
  chunk.holes = nullptr;
  take_back(chunk, returned);
  const bool current = &chunk == current_;
  char* end = current && tail_ ? bump_ : arena.frontier_of(chunk);
  const bool empty =
      !current && map.total() == static_cast<std::size_t>(end - arena.begin_of(chunk));
  // From the last to the first, so that lists and holes come out ascending.
  char* begin = nullptr;
  for (char* limit = end; !empty && map.last_run(limit, begin, end); limit = begin)
    add_run(chunk, begin, end, give_back || returned != 0);
  map.clear();
  return empty;
}

// Free blocks side by side: a hole where they are many, else blocks in their lists.
void GroupHeap::add_run(Chunk& chunk, char* begin, char* end, bool give_back) {
  const auto bytes = static_cast<std::size_t>(end - begin);
  if (bytes < least_hole) return relist(chunk, begin, end);
  Hole* hole = Hole::make(begin, end, chunk.holes);
  chunk.holes = hole;
  if (!give_back || bytes < least_return || arena.has_huge_pages(chunk)) return;
  const auto first = (reinterpret_cast<std::uintptr_t>(hole + 1) + page - 1) & ~(page - 1);
  const auto last = reinterpret_cast<std::uintptr_t>(end) & ~(page - 1);
  if (madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED) != 0) return;
  hole->set_returned(last - first);
  chunk.returned_pages = (chunk.returned_pages + hole->returned() / page) & most_pages;
  account(chunk, chunk.resident_pages * page - hole->returned());
}

// Puts the blocks between `begin` and `end` into their lists, the first on top.
void GroupHeap::relist(const Chunk& chunk, char* begin, char* end) {
  if (const std::uint32_t step = chunk.uniform.load(std::memory_order_relaxed); step != 0) {
    for (char* p = end - step; p >= begin; p -= step) push(p, step);
    return;
  }
  Starts starts(chunk);
  while (end > begin) {
    char* block = starts.last_before(end, begin);
    // What was left of a hole may be longer than any block.
    if (end - block > static_cast<std::ptrdiff_t>(largest_)) {
      block = end - largest_;
      starts.mark(block);
    }
    push_piece(starts, block, static_cast<std::size_t>(end - block));
    end = block;
  }
}

// A free part of a mixed chunk, from one start to the next.
void GroupHeap::push_piece(Starts& starts, char* block, std::size_t bytes) {
  if (bytes % 16 != 0 || reinterpret_cast<std::uintptr_t>(block) % 16 == 0)
    return push_rest(block, bytes);
  // Less aligned than blocks of its size have to be.
  starts.mark(block + granule);
  push_rest(block + granule, bytes - granule);
  push_rest(block, granule);
}

}  // namespace halo::runtime
