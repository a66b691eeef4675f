// A heap that serves each object near others with similar keys.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "tidy/bucket_pool.h"
#include "tidy/cell.h"
#include "tidy/directory.h"
#include "tidy/metadata.h"
#include "tidy/page.h"

namespace halo::tidy {

struct HeapSettings {
  uint32_t bucket_bytes = 1024;  // a power of two, 64 to kPageBytes
  uint32_t split_after = 8;      // full buckets of a cell
  bool adaptive = true;          // false: each key has a cell of its own, whatever it costs
};

struct HeapCounts {
  uint64_t live_bytes = 0;  // of used blocks
  uint64_t cells = 0, buckets = 0;
  uint64_t spilled = 0;  // objects that their own cell had no room for

  HeapCounts& operator+=(const HeapCounts& other) {
    live_bytes += other.live_bytes;
    cells += other.cells;
    buckets += other.buckets;
    spilled += other.spilled;
    return *this;
  }
};

// The heap of Tidy (Miucin, section 3.4.4), with cells that adapt: a cell that has filled some
// buckets is split in two at the highest bit in which its keys differ; a cell without buckets is
// merged with its sibling. So no size of a grid has to be chosen, and keys that are all different
// do not waste a bucket each. Free memory is bounded by a share of the used bytes: beyond it,
// objects go to the nearest cell with room, or to a cell for all keys.
//
// Places, not addresses: objects are never read or written, so a model can use the heap too. Not
// for several threads at once.
template <class Memory>
class CellHeap {
 public:
  static constexpr uint32_t kMaxCells = Directory::kMaxLeaves;

  CellHeap(Memory& memory, const HeapSettings& settings)
      : settings_(settings),
        pool_(memory, metadata_, settings.bucket_bytes),
        directory_(metadata_),
        cells_(metadata_) {}

  // False if memory is refused.
  bool open() {
    if (!pool_.open() || !directory_.open(kRoot) || !cells_.reserve(kFirst)) return false;
    clear(cells_[kRoot]);
    clear(cells_[kCommon]);
    cells_[kRoot].in_use = true;
    counts_.cells = 1;
    return true;
  }

  // The largest object that it serves.
  uint32_t max_bytes() const { return settings_.bucket_bytes; }

  // A block of `bytes`, 1 to max_bytes(), aligned to the largest power of two up to 16 that divides
  // their number, rounded up to 8. Returns kRefused if memory is refused.
  static constexpr Place kRefused = UINT64_MAX;
  Place allocate(uint64_t key, uint32_t bytes);
  // A block for an object without a key.
  Place allocate_common(uint32_t bytes);

  // A block in the bucket of the used block at `near`, or where its key is. A neighbour without a
  // key: where others with neighbours in that bucket are.
  Place allocate_near(Place near, uint32_t bytes);

  // Frees the block at `place`, in one of its pages. Returns false if it is not a used block.
  bool free(Place place);

  // Bytes of the used block at `place`; 0 if there is none.
  uint32_t size_of(Place place) {
    const Page* const page = page_of_used(place);
    return page == nullptr ? 0 : page->bits.granules_of(granule_of(place)) * kGranule;
  }

  // Returns all pages. The heap cannot be used afterwards.
  void release_all() { pool_.release_all(); }

  const HeapCounts& counts() const { return counts_; }
  uint64_t resident() const { return pool_.resident(); }

 private:
  static constexpr Leaf kRoot = 0, kCommon = 1, kFirst = 2;
  static constexpr uint32_t kMaxAlignment = 16;
  static constexpr uint32_t kMaxFree = (1u << 15) - 1;  // that Bucket::free can count
  static constexpr uint64_t kCellRecord =
      128;  // bytes that are kept of a cell, all tables together
  static constexpr uint64_t kFreeBytes = 1 << 20, kFreeShare = 12;
  static constexpr uint64_t kNearKeys = uint64_t{1} << 63;  // with a bucket's number: a key
  static constexpr uint64_t kIdleCells = 64;  // without buckets, beside as many as have some
  static constexpr int kMaxProbes = 4;        // of buckets in a list, and of cells near one
  static constexpr int kMaxSwept = 32;  // buckets that are inspected for free blocks of any cell

  static void clear(Cell& cell) {
    cell = {};
    cell.partly_free = kNone;
  }
  static uint32_t round_up(uint32_t bytes) { return (bytes + kGranule - 1) / kGranule * kGranule; }
  static uint32_t granule_of(Place place) {
    return static_cast<uint32_t>(place % kPageBytes / kGranule);
  }
  Page& page_at(Place place) { return *pool_.page_at(place); }
  // The page of the used block at `place`; nullptr if there is none.
  Page* page_of_used(Place place) {
    Page* const page = pool_.page_at(place);
    if (page == nullptr || place % kGranule != 0) return nullptr;
    return page->bits.is_used(granule_of(place)) ? page : nullptr;
  }
  uint64_t resident_with_cells() const {
    return pool_.resident() + counts_.cells * kCellRecord + kSystemPage;
  }
  bool may_grow() const {
    const uint64_t live = counts_.live_bytes;
    return resident_with_cells() <= live + live / kFreeShare + kFreeBytes;
  }
  // A split leaves a partly filled bucket behind. Without a reserve, the cells of a large heap
  // would be so small that most objects find no room in theirs.
  bool may_split() const {
    const uint64_t live = counts_.live_bytes;
    return resident_with_cells() <= live + live / kFreeShare * 3 / 4 + kFreeBytes / 2;
  }

  Place allocate_slowly(Leaf leaf, uint64_t key, uint32_t block);
  Leaf split(Leaf leaf, uint64_t key, bool keep);
  Place serve(Leaf leaf, uint32_t bytes);
  Place serve_new(Leaf leaf, uint64_t key, uint32_t bytes);
  Place serve_spilled(Leaf leaf, uint64_t key, uint32_t bytes);
  Place serve_anywhere(uint32_t bytes);
  Place serve_common(uint32_t bytes);
  Place bump(Cell& cell, uint32_t bytes);
  Place reuse_last(Cell& cell, uint32_t bytes);
  bool extend_run(Leaf leaf);
  bool enter_bucket(Leaf leaf, uint32_t bucket);
  void count_bucket(Leaf leaf);
  bool enter_free_run(Leaf leaf, uint32_t bytes);
  bool enter_free_run_in(Cell& cell, uint32_t bucket, uint32_t bytes);
  void count_freed(Cell& cell);
  void leave_run(Leaf leaf);
  void add_free(Bucket& bucket, uint32_t number, uint32_t granules);
  void unlist(uint32_t bucket);
  // A free block that reaches into the next bucket is counted in its first one alone.
  static void remove_free(Bucket& bucket, uint32_t granules) {
    bucket.free = (bucket.free - std::min<uint32_t>(bucket.free, granules)) & kMaxFree;
  }
  void count_block(Page& page, Place place, uint32_t bytes);
  void retire_bucket(uint32_t bucket);
  void drop_bucket(uint32_t bucket);
  void remove(Leaf leaf);
  void remove_idle(Leaf leaf);

  const HeapSettings settings_;
  Metadata metadata_;
  BucketPool<Memory> pool_;
  Directory directory_;  // of cells
  Table<Cell, kMaxCells> cells_;
  uint32_t cells_used_ = kFirst;
  uint32_t free_cell_ = kNone;  // head of the list of unused ones
  // The bucket that became empty last; it is a cell's, and may be in use again.
  uint32_t idle_bucket_ = kNone;
  uint64_t occupied_ = 0;  // cells with buckets
  HeapCounts counts_;
};

template <class Memory>
Place CellHeap<Memory>::allocate(uint64_t key, uint32_t bytes) {
  const uint32_t block = round_up(bytes);
  const Leaf leaf = directory_.find(key);
  Cell& cell = cells_[leaf];
  Place place = kRefused;
  if (cell.keys.contains(key)) {
    place = cell.freed_bytes == block ? reuse_last(cell, block) : bump(cell, block);
  }
  if (place == kRefused) place = allocate_slowly(leaf, key, block);
  if (place != kRefused) counts_.live_bytes += block;
  return place;
}

template <class Memory>
__attribute__((noinline)) Place CellHeap<Memory>::allocate_slowly(Leaf leaf, uint64_t key,
                                                                  uint32_t block) {
  KeyRange keys = cells_[leaf].keys;
  keys.add(key);
  if (!settings_.adaptive && keys.differs()) {
    leaf = split(leaf, key, false);
  } else {
    cells_[leaf].keys = keys;
  }
  const Place place = serve(leaf, block);
  if (place != kRefused) return place;
  if (settings_.adaptive && cells_[leaf].filled >= settings_.split_after && keys.differs() &&
      may_split())
    leaf = split(leaf, key, true);
  return serve_new(leaf, key, block);
}

template <class Memory>
Place CellHeap<Memory>::allocate_common(uint32_t bytes) {
  const uint32_t block = round_up(bytes);
  const Place place = serve_common(block);
  if (place != kRefused) counts_.live_bytes += block;
  return place;
}

template <class Memory>
Place CellHeap<Memory>::allocate_near(Place near, uint32_t bytes) {
  if (page_of_used(near) == nullptr) return allocate_common(bytes);
  const uint32_t number = pool_.bucket_at(near), block = round_up(bytes);
  const Bucket& bucket = pool_[number];
  const Leaf leaf = bucket.cell;
  Cell& cell = cells_[leaf];
  const bool runs_here = cell.next != cell.end && pool_.bucket_at(cell.next) == number;
  if (!runs_here && bucket.free >= block / kGranule) {
    leave_run(leaf);
    enter_free_run_in(cell, number, block);
  }
  if (cell.next != cell.end && pool_.bucket_at(cell.next) == number) {
    const Place place = bump(cell, block);
    if (place != kRefused) {
      counts_.live_bytes += block;
      return place;
    }
  }
  return allocate(leaf == kCommon ? kNearKeys | number : cell.keys.any(), bytes);
}

// Splits a cell whose keys and `key` differ; returns the cell of `key`, which is the old one if
// `keep`, or if memory is refused.
template <class Memory>
Leaf CellHeap<Memory>::split(Leaf leaf, uint64_t key, bool keep) {
  KeyRange keys = cells_[leaf].keys;
  keys.add(key);
  const unsigned bit = keys.top_bit();
  remove_idle(leaf);
  const Leaf other = free_cell_ != kNone ? free_cell_ : cells_used_;
  if (!cells_.reserve(other + 1)) return leaf;
  const bool side = (key >> bit & 1) != 0;
  if (!directory_.split(leaf, other, bit, keep == side)) return leaf;
  if (other == free_cell_) {
    free_cell_ = cells_[other].next_free;
  } else {
    ++cells_used_;
  }
  ++counts_.cells;
  clear(cells_[other]);
  cells_[other].in_use = true;
  const Leaf found = keep ? leaf : other;
  if (keep) {
    cells_[leaf].keys.clear();
    cells_[leaf].filled = 0;
  }
  cells_[found].keys.add(key);
  return found;
}

// From the cell's run or its free blocks.
template <class Memory>
Place CellHeap<Memory>::serve(Leaf leaf, uint32_t bytes) {
  Cell& cell = cells_[leaf];
  if (cell.freed_bytes == bytes) return reuse_last(cell, bytes);
  const Place place = bump(cell, bytes);
  if (place != kRefused || cell.partly_free == kNone) return place;
  return enter_free_run(leaf, bytes) ? bump(cell, bytes) : kRefused;
}

template <class Memory>
Place CellHeap<Memory>::serve_new(Leaf leaf, uint64_t key, uint32_t bytes) {
  Cell& cell = cells_[leaf];
  if (!settings_.adaptive || may_grow()) {
    if (extend_run(leaf) || enter_bucket(leaf, pool_.take(key, leaf))) return bump(cell, bytes);
  }
  return serve_spilled(leaf, key, bytes);
}

// From the nearest cell with room, from a free bucket or block anywhere, or from the cell for all
// keys.
template <class Memory>
Place CellHeap<Memory>::serve_spilled(Leaf leaf, uint64_t key, uint32_t bytes) {
  ++counts_.spilled;
  Place place = kRefused;
  directory_.visit_near(leaf, key, kMaxProbes, [&](Leaf near) {
    place = serve(near, bytes);
    return place != kRefused;
  });
  if (place != kRefused) return place;
  if (enter_bucket(leaf, pool_.take_free(leaf))) return bump(cells_[leaf], bytes);
  place = serve_anywhere(bytes);
  return place != kRefused ? place : serve_common(bytes);
}

// From free blocks of any cell; kRefused if the next buckets have none.
template <class Memory>
Place CellHeap<Memory>::serve_anywhere(uint32_t bytes) {
  Place place = kRefused;
  pool_.sweep(kMaxSwept, [&](uint32_t number) {
    Bucket& bucket = pool_[number];
    if (bucket.free < bytes / kGranule) return false;
    const Leaf leaf = bucket.cell;
    leave_run(leaf);
    if (!enter_free_run_in(cells_[leaf], number, bytes)) return false;
    place = bump(cells_[leaf], bytes);
    return true;
  });
  return place;
}

template <class Memory>
Place CellHeap<Memory>::serve_common(uint32_t bytes) {
  const Place place = serve(kCommon, bytes);
  if (place != kRefused) return place;
  const bool grown = extend_run(kCommon) || enter_bucket(kCommon, pool_.take_common(kCommon));
  return grown ? bump(cells_[kCommon], bytes) : kRefused;
}

// Cuts a block off the run; kRefused if it is too short.
template <class Memory>
Place CellHeap<Memory>::bump(Cell& cell, uint32_t bytes) {
  Place at = cell.next;
  const bool skip = bytes % kMaxAlignment == 0 && at % kMaxAlignment != 0;
  if (cell.end - at < bytes + (skip ? kGranule : 0)) return kRefused;
  Page& page = page_at(at);
  if (skip) {
    add_free(pool_.bucket_in(page, at), pool_.bucket_at(at), 1);
    at += kGranule;
    page.bits.set_start(granule_of(at));
  }
  cell.next = at + bytes;
  if (cell.next % kPageBytes != 0) page.bits.set_start(granule_of(cell.next));
  page.bits.set_used(granule_of(at));
  count_block(page, at, bytes);
  return at;
}

template <class Memory>
Place CellHeap<Memory>::reuse_last(Cell& cell, uint32_t bytes) {
  const Place at = cell.freed;
  cell.freed_bytes = 0;
  Page& page = page_at(at);
  page.bits.set_used(granule_of(at));
  count_block(page, at, bytes);
  return at;
}

// Adds the bucket behind the run to it; false if there is no run, or if that bucket is not unused.
template <class Memory>
bool CellHeap<Memory>::extend_run(Leaf leaf) {
  Cell& cell = cells_[leaf];
  if (cell.next == cell.end) return false;
  const uint32_t last = pool_.bucket_at(cell.end - 1);
  if (cell.end != pool_.end_of(last) || pool_.take_behind(last, leaf) == kNone) return false;
  page_at(cell.next).bits.clear_start(granule_of(cell.end));
  cell.end += pool_.bucket_bytes();
  count_bucket(leaf);
  return true;
}

// Starts a run in a new bucket; false if it is kNone.
template <class Memory>
bool CellHeap<Memory>::enter_bucket(Leaf leaf, uint32_t bucket) {
  if (bucket == kNone) return false;
  leave_run(leaf);
  Cell& cell = cells_[leaf];
  cell.next = pool_.begin_of(bucket);
  cell.end = pool_.end_of(bucket);
  page_at(cell.next).bits.set_start(granule_of(cell.next));
  count_bucket(leaf);
  return true;
}

template <class Memory>
void CellHeap<Memory>::count_bucket(Leaf leaf) {
  Cell& cell = cells_[leaf];
  if (cell.buckets++ == 0 && leaf != kCommon) ++occupied_;
  ++cell.filled;
  ++counts_.buckets;
}

// Starts a run of free blocks with room for `bytes`; false if the first buckets of the list have
// none.
template <class Memory>
bool CellHeap<Memory>::enter_free_run(Leaf leaf, uint32_t bytes) {
  leave_run(leaf);
  Cell& cell = cells_[leaf];
  for (int probe = 0; probe < kMaxProbes && cell.partly_free != kNone; ++probe) {
    const uint32_t bucket = cell.partly_free;
    if (enter_free_run_in(cell, bucket, bytes)) return true;
    unlist(bucket);
  }
  return false;
}

template <class Memory>
bool CellHeap<Memory>::enter_free_run_in(Cell& cell, uint32_t number, uint32_t bytes) {
  Page& page = pool_.page_of(number);
  const uint32_t first = granule_of(pool_.begin_of(number));
  const uint32_t limit = first + pool_.bucket_bytes() / kGranule;
  const uint32_t wanted = bytes / kGranule;
  for (uint32_t at = page.bits.find_start(first, limit); at < limit;) {
    if (page.bits.is_used(at)) {
      at = page.bits.find_start(at + 1, limit);
      continue;
    }
    const uint32_t end = page.bits.find_used(at, limit);
    const bool skip = wanted % 2 == 0 && at % 2 != 0;
    if (end - at >= wanted + skip) {
      page.bits.clear_starts(at + 1, end);
      if (end < BlockBits::kGranules) page.bits.set_start(end);
      Bucket& bucket = pool_[number];
      remove_free(bucket, end - at);
      cell.next = Place{page.number} * kPageBytes + Place{at} * kGranule;
      cell.end = cell.next + Place{end - at} * kGranule;
      return true;
    }
    at = end;
  }
  return false;
}

// Counts the last freed block, which is not for the next request of its size any more.
template <class Memory>
void CellHeap<Memory>::count_freed(Cell& cell) {
  if (cell.freed_bytes == 0) return;
  const uint32_t bucket = pool_.bucket_at(cell.freed), granules = cell.freed_bytes / kGranule;
  cell.freed_bytes = 0;
  add_free(pool_[bucket], bucket, granules);
}

// Makes a free block of the rest of the run.
template <class Memory>
void CellHeap<Memory>::leave_run(Leaf leaf) {
  Cell& cell = cells_[leaf];
  count_freed(cell);
  if (cell.next != cell.end) {
    const Place begin = cell.next;
    const auto granules = static_cast<uint32_t>((cell.end - begin) / kGranule);
    cell.next = cell.end = 0;
    const uint32_t bucket = pool_.bucket_at(begin);
    add_free(pool_[bucket], bucket, granules);
  }
  cell.next = cell.end = 0;
}

// Counts a free block, and lists its bucket for reuse if a quarter of it is free.
template <class Memory>
void CellHeap<Memory>::add_free(Bucket& bucket, uint32_t number, uint32_t granules) {
  bucket.free = (bucket.free + granules) & kMaxFree;
  if (bucket.listed || bucket.free < pool_.bucket_bytes() / kGranule / 4) return;
  Cell& cell = cells_[bucket.cell];
  bucket.listed = true;
  bucket.previous = kNone;
  bucket.next = cell.partly_free;
  if (bucket.next != kNone) pool_[bucket.next].previous = number;
  cell.partly_free = number;
}

template <class Memory>
void CellHeap<Memory>::unlist(uint32_t number) {
  Bucket& bucket = pool_[number];
  if (!bucket.listed) return;
  bucket.listed = false;
  if (bucket.next != kNone) pool_[bucket.next].previous = bucket.previous;
  if (bucket.previous != kNone) {
    pool_[bucket.previous].next = bucket.next;
  } else {
    cells_[bucket.cell].partly_free = bucket.next;
  }
}

// A block reaches into two buckets at most.
template <class Memory>
void CellHeap<Memory>::count_block(Page& page, Place place, uint32_t bytes) {
  Bucket& first = pool_.bucket_in(page, place);
  Bucket& last = pool_.bucket_in(page, place + bytes - 1);
  ++first.blocks;
  if (&last != &first) ++last.blocks;
}

template <class Memory>
bool CellHeap<Memory>::free(Place place) {
  Page* const page = page_of_used(place);
  if (page == nullptr) return false;
  const uint32_t at = granule_of(place), granules = page->bits.granules_of(at);
  const uint32_t bytes = granules * kGranule;
  page->bits.clear_used(at);
  counts_.live_bytes -= bytes;
  Bucket& bucket = pool_.bucket_in(*page, place);
  Cell& cell = cells_[bucket.cell];
  count_freed(cell);
  cell.freed = place;
  cell.freed_bytes = bytes;
  Bucket& last = pool_.bucket_in(*page, place + bytes - 1);
  if (&last != &bucket && --last.blocks == 0) retire_bucket(pool_.bucket_at(place + bytes - 1));
  if (--bucket.blocks == 0) retire_bucket(pool_.bucket_at(place));
  return true;
}

// Keeps a bucket that has become empty until another one has: a program may allocate and free one
// object again and again.
template <class Memory>
void CellHeap<Memory>::retire_bucket(uint32_t number) {
  const uint32_t before = std::exchange(idle_bucket_, number);
  if (before != kNone && before != number && pool_[before].blocks == 0) drop_bucket(before);
}

// Returns a bucket without used blocks. A cell without buckets is removed.
template <class Memory>
void CellHeap<Memory>::drop_bucket(uint32_t number) {
  Bucket& bucket = pool_[number];
  const Leaf leaf = bucket.cell;
  Cell& cell = cells_[leaf];
  const Place begin = pool_.begin_of(number), end = pool_.end_of(number);
  if (cell.next < end && cell.end > begin) cell.next = cell.end = 0;
  // The last freed block may begin in the bucket or reach into it.
  if (cell.freed < end && cell.freed + cell.freed_bytes > begin) cell.freed_bytes = 0;
  unlist(number);
  --counts_.buckets;
  pool_.release_bucket(number);
  if (--cell.buckets != 0 || leaf == kCommon) return;
  --occupied_;
  remove(leaf);
  remove_idle(kNone);
}

// Its sibling gets its keys. The only cell stays.
template <class Memory>
void CellHeap<Memory>::remove(Leaf leaf) {
  if (!directory_.remove(leaf)) return;
  Cell& cell = cells_[leaf];
  cell.in_use = false;
  cell.next_free = free_cell_;
  free_cell_ = leaf;
  --counts_.cells;
}

// Removes the cells without buckets, except `leaf`, if they are more than the others: so the search
// takes constant time for each cell.
template <class Memory>
void CellHeap<Memory>::remove_idle(Leaf leaf) {
  if (counts_.cells <= 2 * occupied_ + kIdleCells) return;
  for (Leaf at = 0; at < cells_used_; ++at)
    if (at != leaf && cells_[at].in_use && cells_[at].buckets == 0) remove(at);
}

}  // namespace halo::tidy
