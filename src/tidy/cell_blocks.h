// Cuts blocks off the buckets of a cell, and takes them back.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "tidy/bucket_pool.h"
#include "tidy/cell.h"
#include "tidy/page.h"

namespace halo::tidy {

// Sizes are multiples of a granule. Every cell that a function gets has the buckets that it gets.
template <class Memory>
class CellBlocks {
 public:
  using Page = typename BucketPool<Memory>::Page;

  static constexpr Place kRefused = UINT64_MAX;

  explicit CellBlocks(BucketPool<Memory>& pool) : pool_(&pool) {}

  // Cuts a block off the run; kRefused if it is too short.
  Place bump(Cell& cell, uint32_t bytes);
  // The last freed block, which must have that size.
  Place reuse_last(Cell& cell, uint32_t bytes);
  // A block of the run, or the last freed one; kRefused if both do not fit.
  Place from_run(Cell& cell, uint32_t bytes) {
    return cell.freed_bytes == bytes ? reuse_last(cell, bytes) : bump(cell, bytes);
  }
  // A block of the run or of free blocks; kRefused if the first buckets of the list have none.
  Place allocate(Cell& cell, uint32_t bytes);

  // Starts a run in a new bucket.
  void enter_bucket(Cell& cell, uint32_t bucket);
  // Makes a free block of the rest of the run.
  void leave_run(Cell& cell);
  // Adds the new bucket behind the run to it.
  void extend_run(Cell& cell);
  // Starts a run of free blocks of that bucket with room for `bytes`; false if it has none.
  bool enter_free_run(Cell& cell, uint32_t bucket, uint32_t bytes);

  // A free block of that class (FreeSizes) with room for `bytes`, by its granule in the page; kNone
  // if the page has none.
  uint32_t find_free(Page& page, unsigned size_class, uint32_t bytes);
  // Cuts a block off the free one at the granule `at`, in a bucket of the cell.
  Place cut_free(Cell& cell, Page& page, uint32_t at, uint32_t bytes);

  // Granules of the blocks that start in that bucket, without its last, if they have one size; else
  // 0.
  uint32_t equal_granules(uint32_t bucket);
  // Joins free blocks that start in that bucket of the cell and follow each other.
  void join_free(Cell& cell, uint32_t bucket);

  // Frees the used block at the granule `at` of the page.
  void free(Cell& cell, Page& page, uint32_t at, uint32_t granules);
  // Forgets what the cell has in a bucket without used blocks. Its run then ends or begins there.
  void forget(Cell& cell, uint32_t bucket);

  static uint32_t granule_of(Place place) {
    return static_cast<uint32_t>(place % kPageBytes / kGranule);
  }

 private:
  static constexpr uint32_t kMaxAlignment = 16;
  static constexpr uint32_t kMaxFree = (1u << 15) - 1;  // that Bucket::free can count
  static constexpr int kMaxProbes = 4;                  // of buckets in a list

  // Whether a block of that size has to begin one granule behind `at`.
  static bool skips(Place at, uint32_t bytes) {
    return bytes % kMaxAlignment == 0 && at % kMaxAlignment != 0;
  }
  Page& page_at(Place place) { return *pool_->page_at(place); }
  void count_freed(Cell& cell);
  void add_free(Cell& cell, uint32_t bucket, uint32_t granules);
  // A free block that reaches into the next bucket is counted in its first one alone.
  static void remove_free(Bucket& bucket, uint32_t granules) {
    bucket.free = (bucket.free - std::min<uint32_t>(bucket.free, granules)) & kMaxFree;
  }
  void unlist(Cell& cell, uint32_t bucket);
  void mark_used(Page& page, Place place, uint32_t bytes);

  BucketPool<Memory>* pool_;
};

template <class Memory>
Place CellBlocks<Memory>::bump(Cell& cell, uint32_t bytes) {
  Place at = cell.next;
  const bool skip = skips(at, bytes);
  if (cell.end - at < bytes + (skip ? kGranule : 0)) return kRefused;
  Page& page = page_at(at);
  if (skip) {
    add_free(cell, pool_->bucket_at(at), 1);
    at += kGranule;
    page.bits.set_start(granule_of(at));
  }
  cell.next = at + bytes;
  if (cell.next % kPageBytes != 0) page.bits.set_start(granule_of(cell.next));
  mark_used(page, at, bytes);
  return at;
}

template <class Memory>
Place CellBlocks<Memory>::reuse_last(Cell& cell, uint32_t bytes) {
  cell.freed_bytes = 0;
  mark_used(page_at(cell.freed), cell.freed, bytes);
  return cell.freed;
}

template <class Memory>
Place CellBlocks<Memory>::allocate(Cell& cell, uint32_t bytes) {
  const Place place = from_run(cell, bytes);
  if (place != kRefused) return place;
  for (int probe = 0; probe < kMaxProbes && cell.partly_free != kNone; ++probe) {
    const uint32_t bucket = cell.partly_free;
    if (enter_free_run(cell, bucket, bytes)) return bump(cell, bytes);
    unlist(cell, bucket);
  }
  return kRefused;
}

template <class Memory>
void CellBlocks<Memory>::enter_bucket(Cell& cell, uint32_t bucket) {
  leave_run(cell);
  cell.next = pool_->begin_of(bucket);
  cell.end = pool_->end_of(bucket);
  Page& page = page_at(cell.next);
  page.bits.set_start(granule_of(cell.next));
  if (cell.end % kPageBytes != 0) page.bits.set_start(granule_of(cell.end));
}

template <class Memory>
void CellBlocks<Memory>::extend_run(Cell& cell) {
  Page& page = page_at(cell.next);
  page.bits.clear_start(granule_of(cell.end));
  cell.end += pool_->bucket_bytes();
  if (cell.end % kPageBytes != 0) page.bits.set_start(granule_of(cell.end));
}

template <class Memory>
bool CellBlocks<Memory>::enter_free_run(Cell& cell, uint32_t bucket, uint32_t bytes) {
  Page& page = pool_->page_of(bucket);
  const uint32_t first = granule_of(pool_->begin_of(bucket));
  const uint32_t limit = first + pool_->bucket_bytes() / kGranule;
  const uint32_t wanted = bytes / kGranule;
  for (uint32_t at = page.bits.find_start(first, limit); at < limit;) {
    if (page.bits.is_used(at)) {
      at = page.bits.find_start(at + 1, limit);
      continue;
    }
    const uint32_t end = page.bits.find_used(at, limit);
    const bool skip = skips(Place{at} * kGranule, bytes);
    if (end - at >= wanted + skip) {
      leave_run(cell);
      page.bits.clear_starts(at + 1, end);
      if (end < kPageGranules) page.bits.set_start(end);
      remove_free((*pool_)[bucket], end - at);
      page.touch();
      cell.next = Place{page.number} * kPageBytes + Place{at} * kGranule;
      cell.end = cell.next + Place{end - at} * kGranule;
      return true;
    }
    at = end;
  }
  return false;
}

template <class Memory>
uint32_t CellBlocks<Memory>::find_free(Page& page, unsigned size_class, uint32_t bytes) {
  const uint32_t limit = page.next_bucket * (pool_->bucket_bytes() / kGranule);
  const uint32_t words = (limit + 63) / 64;
  for (uint32_t word = 0; word < words; ++word) {
    for (uint64_t starts = page.bits.free_starts(word); starts != 0; starts &= starts - 1) {
      const uint32_t at = word * 64 + static_cast<uint32_t>(std::countr_zero(starts));
      const uint32_t granules = page.bits.granules_of(at);
      if (free_class_of(granules) != size_class) continue;
      const Place place = Place{at} * kGranule;
      if (granules * kGranule < bytes + (skips(place, bytes) ? kGranule : 0)) continue;
      return at < limit ? at : kNone;
    }
  }
  return kNone;
}

template <class Memory>
Place CellBlocks<Memory>::cut_free(Cell& cell, Page& page, uint32_t at, uint32_t bytes) {
  const Place begin = Place{page.number} * kPageBytes + Place{at} * kGranule;
  if (cell.has_run() && cell.next == begin) leave_run(cell);
  if (cell.freed == begin) count_freed(cell);
  const uint32_t granules = page.bits.granules_of(at), skipped = skips(begin, bytes) ? 1 : 0;
  const Place place = begin + skipped * kGranule;
  const uint32_t used = skipped + bytes / kGranule;
  remove_free(pool_->bucket_in(page, begin), granules);
  if (skipped != 0) add_free(cell, pool_->bucket_at(begin), skipped);
  if (used < granules) {
    page.bits.set_start(at + used);
    add_free(cell, pool_->bucket_at(place + bytes), granules - used);
  }
  page.bits.set_start(at + skipped);
  mark_used(page, place, bytes);
  return place;
}

template <class Memory>
uint32_t CellBlocks<Memory>::equal_granules(uint32_t bucket) {
  Page& page = pool_->page_of(bucket);
  const uint32_t begin = granule_of(pool_->begin_of(bucket));
  const uint32_t limit = begin + pool_->bucket_bytes() / kGranule;
  const uint32_t first = page.bits.find_start(begin, limit);
  if (first == limit) return 0;
  const uint32_t granules = page.bits.granules_of(first);
  for (uint32_t at = first + granules; at + granules < limit; at += granules)
    if (page.bits.granules_of(at) != granules) return 0;
  return granules;
}

template <class Memory>
void CellBlocks<Memory>::join_free(Cell& cell, uint32_t bucket) {
  if (cell.freed_bytes != 0 && pool_->bucket_at(cell.freed) == bucket) count_freed(cell);
  Page& page = pool_->page_of(bucket);
  const Place begin = pool_->begin_of(bucket);
  const uint32_t first = granule_of(begin);
  const uint32_t limit = first + pool_->bucket_bytes() / kGranule;
  const bool runs_here = cell.has_run() && pool_->bucket_at(cell.next) == bucket;
  const uint32_t run = runs_here ? granule_of(cell.next) : kNone;
  const auto is_free = [&](uint32_t at) { return !page.bits.is_used(at) && at != run; };
  for (uint32_t at = page.bits.find_start(first, limit); at < limit;) {
    const uint32_t next = at + page.bits.granules_of(at);
    uint32_t end = next;
    if (is_free(at))
      while (end < limit && is_free(end)) end += page.bits.granules_of(end);
    if (end != next) {
      page.bits.clear_starts(next, std::min(end, limit));
      pool_->add_free(page, end - at);
    }
    at = end;
  }
}

template <class Memory>
void CellBlocks<Memory>::free(Cell& cell, Page& page, uint32_t at, uint32_t granules) {
  page.bits.clear_used(at);
  page.touch();
  count_freed(cell);
  cell.freed = Place{page.number} * kPageBytes + Place{at} * kGranule;
  cell.freed_bytes = granules * kGranule;
}

template <class Memory>
void CellBlocks<Memory>::forget(Cell& cell, uint32_t bucket) {
  const Place begin = pool_->begin_of(bucket), end = pool_->end_of(bucket);
  if (cell.next < begin) {
    cell.end = std::min(cell.end, begin);
  } else if (cell.next < end) {
    cell.next = cell.end = 0;
  }
  // The last freed block may begin in the bucket or reach into it.
  if (cell.freed < end && cell.freed + cell.freed_bytes > begin) cell.freed_bytes = 0;
  unlist(cell, bucket);
}

template <class Memory>
void CellBlocks<Memory>::leave_run(Cell& cell) {
  count_freed(cell);
  if (cell.has_run())
    add_free(cell, pool_->bucket_at(cell.next),
             static_cast<uint32_t>((cell.end - cell.next) / kGranule));
  cell.next = cell.end = 0;
}

// Counts the last freed block, which is not for the next request of its size any more.
template <class Memory>
void CellBlocks<Memory>::count_freed(Cell& cell) {
  if (cell.freed_bytes == 0) return;
  add_free(cell, pool_->bucket_at(cell.freed), cell.freed_bytes / kGranule);
  cell.freed_bytes = 0;
}

// Counts a free block, and lists its bucket for reuse if a quarter of it is free.
template <class Memory>
void CellBlocks<Memory>::add_free(Cell& cell, uint32_t number, uint32_t granules) {
  Page& page = pool_->page_of(number);
  pool_->add_free(page, granules);
  Bucket& bucket = pool_->bucket_in(page, pool_->begin_of(number));
  bucket.free = (bucket.free + granules) & kMaxFree;
  if (bucket.listed || bucket.free < pool_->bucket_bytes() / kGranule / 4) return;
  bucket.listed = true;
  bucket.previous = kNone;
  bucket.next = cell.partly_free;
  if (bucket.next != kNone) (*pool_)[bucket.next].previous = number;
  cell.partly_free = number;
}

template <class Memory>
void CellBlocks<Memory>::unlist(Cell& cell, uint32_t number) {
  Bucket& bucket = (*pool_)[number];
  if (!bucket.listed) return;
  bucket.listed = false;
  if (bucket.next != kNone) (*pool_)[bucket.next].previous = bucket.previous;
  if (bucket.previous != kNone) {
    (*pool_)[bucket.previous].next = bucket.next;
  } else {
    cell.partly_free = bucket.next;
  }
}

// A block reaches into two buckets at most.
template <class Memory>
void CellBlocks<Memory>::mark_used(Page& page, Place place, uint32_t bytes) {
  page.bits.set_used(granule_of(place));
  ++page.blocks;
  Bucket& first = pool_->bucket_in(page, place);
  Bucket& last = pool_->bucket_in(page, place + bytes - 1);
  ++first.blocks;
  if (&last != &first) ++last.blocks;
}

}  // namespace halo::tidy
