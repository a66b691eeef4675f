// A heap that serves each object near others with similar keys.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "tidy/bucket_pool.h"
#include "tidy/cell.h"
#include "tidy/cell_blocks.h"
#include "tidy/directory.h"
#include "tidy/free_sizes.h"
#include "tidy/leaves.h"
#include "tidy/metadata.h"
#include "tidy/page.h"

namespace halo::tidy {

struct HeapSettings {
  uint32_t bucket_bytes = 4096;  // a power of two, 64 to kPageBytes
  uint32_t split_after = 1;      // full buckets of a cell
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
// objects go to the nearest cell with room, or to free memory of others. If there is none, small
// objects still go to a new bucket of their cell, large ones to a cell for all keys.
//
// Places, not addresses: objects are never read or written, so a model can use the heap too. Not
// for several threads at once.
template <class Memory>
class CellHeap {
 public:
  using Tracer = typename Memory::Tracer;
  static constexpr Place kRefused = CellBlocks<Memory>::kRefused;

  CellHeap(Memory& memory, const HeapSettings& settings)
      : settings_(settings),
        pool_(memory, metadata_, settings.bucket_bytes),
        blocks_(pool_),
        cells_(metadata_) {}
  CellHeap(const CellHeap&) = delete;
  CellHeap& operator=(const CellHeap&) = delete;

  // False if memory is refused.
  bool open() { return pool_.open() && cells_.open(); }

  // The largest object that it serves.
  uint32_t max_bytes() const { return settings_.bucket_bytes; }

  // A block of `bytes`, 1 to max_bytes(), aligned to the largest power of two up to 16 that divides
  // their number, rounded up to 8. Returns kRefused if memory is refused.
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

  HeapCounts counts() const { return {live_bytes_, cells_.count(), buckets_, spilled_}; }
  uint64_t resident() const { return pool_.resident(); }

 private:
  static constexpr uint64_t kCellBytes = 128;  // that are kept of a cell, in all tables
  // Free memory is at most a twelfth of the used bytes and 2 MiB, minus tables that are not counted
  // (directory, free sizes): about 0.2 MiB and a 256th.
  static constexpr uint64_t kFreeBytes = 13 << 17, kFreeShare = 12, kUncountedShare = 256;
  static constexpr uint32_t kSmallBytes = 64;
  static constexpr uint64_t kNearKeys = uint64_t{1} << 63;  // with a bucket's number: a key
  static constexpr int kMaxNear = 4;                        // cells near one that are tried
  static constexpr int kMaxTried = 8;  // pages that may have a free block of a size
  // Buckets whose free blocks are joined at once, and for each block that is freed.
  static constexpr uint64_t kMaxSwept = 512, kSweptForFree = 4;

  using Page = typename BucketPool<Memory>::Page;
  using Cells = Leaves<Cell, Directory<Tracer>::kMaxLeaves, Tracer>;
  static constexpr Leaf kCommon = Cells::kCommon;

  // Of what each call uses: its own fields.
  void touch() const { Tracer::touch(this, sizeof *this); }
  static uint32_t round_up(uint32_t bytes) { return (bytes + kGranule - 1) / kGranule * kGranule; }
  static unsigned size_class_of(uint32_t block) { return free_class_of(block / kGranule); }
  static uint32_t granule_of(Place place) { return CellBlocks<Memory>::granule_of(place); }
  // The page of the used block at `place`; nullptr if there is none.
  Page* page_of_used(Place place) {
    Page* const page = pool_.page_at(place);
    if (page == nullptr || place % kGranule != 0) return nullptr;
    return page->bits.is_used(granule_of(place)) ? page : nullptr;
  }
  Place counted(Place place, uint32_t block) {
    if (place != kRefused) live_bytes_ += block;
    return place;
  }
  uint64_t resident_with_cells() const {
    return pool_.resident() + cells_.count() * kCellBytes + kSystemPage;
  }
  uint64_t max_free() const {
    return live_bytes_ / kFreeShare - live_bytes_ / kUncountedShare + kFreeBytes;
  }
  bool may_grow() const { return resident_with_cells() <= live_bytes_ + max_free(); }
  // A split leaves a partly filled bucket behind. Without a reserve, the cells of a large heap
  // would be so small that most objects find no room in theirs.
  bool may_split() const { return resident_with_cells() <= live_bytes_ + max_free() * 7 / 8; }

  // What such a block leaves of a free one that is larger wastes little.
  static bool is_small(uint32_t block) { return block <= kSmallBytes; }

  // Whether a cell may get a bucket that the cell for all keys would have needed: if a half-filled
  // bucket in each cell takes at most half of the permitted free memory, and such a block leaves
  // little at the end of a bucket.
  bool may_give_bucket(uint32_t block) const {
    return is_small(block) && cells_.count() * uint64_t{settings_.bucket_bytes} <= max_free();
  }

  Place allocate_slowly(Leaf leaf, uint64_t key, uint32_t block);
  Place serve_bounded(Leaf leaf, uint64_t key, uint32_t block);
  Place cut_block(Page& page, unsigned size_class, uint32_t block);
  Place serve_near(Leaf leaf, uint64_t key, uint32_t block);
  Place serve_best(uint32_t block);
  void join_blocks(uint32_t block);
  Place serve_common(uint32_t block);
  bool extend_run(Leaf leaf);
  bool enter_bucket(Leaf leaf, uint32_t bucket);
  bool enter_new_bucket(Leaf leaf, uint64_t key) {
    return extend_run(leaf) || enter_bucket(leaf, pool_.take(key));
  }
  void give_bucket(Leaf leaf, uint32_t bucket);
  void take_away(uint32_t bucket);
  void retire_bucket(Page& page, uint32_t bucket);
  void retire_page(Page& page);

  const HeapSettings settings_;
  Metadata metadata_;
  BucketPool<Memory> pool_;
  CellBlocks<Memory> blocks_;
  Cells cells_;
  // The page that became empty last; it may be in use again.
  uint32_t idle_page_ = kNone;
  uint64_t unswept_ = 0;  // buckets that may have free blocks to join
  uint64_t live_bytes_ = 0, buckets_ = 0, spilled_ = 0;
};

template <class Memory>
Place CellHeap<Memory>::allocate(uint64_t key, uint32_t bytes) {
  touch();
  const uint32_t block = round_up(bytes);
  const Leaf leaf = cells_.find(key);
  Cell& cell = cells_[leaf];
  Place place = kRefused;
  if (cell.keys.contains(key)) place = blocks_.from_run(cell, block);
  if (place == kRefused) place = allocate_slowly(leaf, key, block);
  return counted(place, block);
}

template <class Memory>
__attribute__((noinline)) Place CellHeap<Memory>::allocate_slowly(Leaf leaf, uint64_t key,
                                                                  uint32_t block) {
  KeyRange keys = cells_[leaf].keys;
  keys.add(key);
  if (!settings_.adaptive && keys.differs()) {
    leaf = cells_.split(leaf, key, false);
  } else {
    cells_[leaf].keys = keys;
  }
  const Place place = blocks_.from_run(cells_[leaf], block);
  if (place != kRefused) return place;
  if (settings_.adaptive && !may_grow()) return serve_bounded(leaf, key, block);
  const Place again = blocks_.allocate(cells_[leaf], block);
  if (again != kRefused) return again;
  const bool is_full = cells_[leaf].filled >= settings_.split_after && keys.differs();
  if (settings_.adaptive && is_full && may_split()) leaf = cells_.split(leaf, key, true);
  if (enter_new_bucket(leaf, key)) return blocks_.bump(cells_[leaf], block);
  return serve_bounded(leaf, key, block);
}

template <class Memory>
Place CellHeap<Memory>::allocate_common(uint32_t bytes) {
  touch();
  const uint32_t block = round_up(bytes);
  Place place = blocks_.from_run(cells_[kCommon], block);
  if (place == kRefused && settings_.adaptive && !may_grow()) place = serve_best(block);
  return counted(place != kRefused ? place : serve_common(block), block);
}

template <class Memory>
Place CellHeap<Memory>::allocate_near(Place near, uint32_t bytes) {
  touch();
  if (page_of_used(near) == nullptr) return allocate_common(bytes);
  const uint32_t number = pool_.bucket_at(near), block = round_up(bytes);
  const Leaf leaf = pool_[number].cell;
  Cell& cell = cells_[leaf];
  const bool runs_here = cell.has_run() && pool_.bucket_at(cell.next) == number;
  if (runs_here ||
      (pool_[number].free >= block / kGranule && blocks_.enter_free_run(cell, number, block))) {
    const Place place = blocks_.bump(cell, block);
    if (place != kRefused) return counted(place, block);
  }
  return allocate(leaf == kCommon ? kNearKeys | number : cell.keys.any(), bytes);
}

// Without more memory if there is another way. A free block of just that size leaves no rest, and
// the cluster's page is near. Only then other cells' runs, and pages of other clusters.
template <class Memory>
Place CellHeap<Memory>::serve_bounded(Leaf leaf, uint64_t key, uint32_t block) {
  Place place = kRefused;
  if (Page* const page = pool_.page_near(key))
    place = cut_block(*page, size_class_of(block), block);
  if (place == kRefused) place = serve_near(leaf, key, block);
  if (place == kRefused) place = serve_best(block);
  if (place == kRefused) {
    join_blocks(block);
    place = serve_best(block);
  }
  if (place == kRefused && enter_bucket(leaf, pool_.take_empty())) {
    place = blocks_.bump(cells_[leaf], block);
    blocks_.leave_run(cells_[leaf]);
  }
  if (place == kRefused) place = blocks_.allocate(cells_[leaf], block);
  if (place == kRefused && may_give_bucket(block) && enter_new_bucket(leaf, key))
    place = blocks_.bump(cells_[leaf], block);
  if (place == kRefused) place = serve_common(block);
  if (place != kRefused && pool_[pool_.bucket_at(place)].cell != leaf) ++spilled_;
  return place;
}

// From the rest of a near cell's bucket. Small blocks also from larger free ones of the cell itself
// and of near cells.
template <class Memory>
Place CellHeap<Memory>::serve_near(Leaf leaf, uint64_t key, uint32_t block) {
  Place place = kRefused;
  cells_.visit_near(leaf, key, kMaxNear, [&](Leaf near) {
    place = blocks_.from_run(cells_[near], block);
    return place != kRefused;
  });
  if (place != kRefused || !is_small(block)) return place;
  place = blocks_.allocate(cells_[leaf], block);
  if (place != kRefused) return place;
  cells_.visit_near(leaf, key, kMaxNear, [&](Leaf near) {
    place = blocks_.allocate(cells_[near], block);
    return place != kRefused;
  });
  return place;
}

// A block of a free one of that class in the page; kRefused if it has none.
template <class Memory>
Place CellHeap<Memory>::cut_block(Page& page, unsigned size_class, uint32_t block) {
  FreeSizes<Tracer>& sizes = pool_.free_sizes();
  if (!sizes.has(page.sizes, size_class)) return kRefused;
  const uint32_t at = blocks_.find_free(page, size_class, block);
  if (at != kNone) {
    const uint32_t owner = pool_.bucket_in(page, Place{at} * kGranule).cell;
    return blocks_.cut_free(cells_[owner], page, at, block);
  }
  if (blocks_.find_free(page, size_class, kGranule) == kNone) sizes.remove(page.sizes, size_class);
  return kRefused;
}

// From one of the smallest free blocks that are found and large enough.
template <class Memory>
Place CellHeap<Memory>::serve_best(uint32_t block) {
  for (int tried = 0; tried < kMaxTried; ++tried) {
    const auto found = pool_.free_sizes().find(size_class_of(block));
    if (found.page == FreeSizes<Tracer>::kNone) break;
    const Place place = cut_block(pool_.page_of_sizes(found.page), found.size_class, block);
    if (place != kRefused) return place;
  }
  return kRefused;
}

// Joins the free blocks in the next buckets: in few for each block that was freed, and in none a
// second time without one. Blocks of one size that is large enough stay.
template <class Memory>
void CellHeap<Memory>::join_blocks(uint32_t block) {
  unswept_ = std::min(unswept_, buckets_);
  const uint64_t count = std::min(unswept_, kMaxSwept);
  unswept_ -= count;
  pool_.sweep(count, [&](uint32_t number) {
    if (blocks_.equal_granules(number) < block / kGranule)
      blocks_.join_free(cells_[pool_[number].cell], number);
  });
}

template <class Memory>
Place CellHeap<Memory>::serve_common(uint32_t block) {
  const Place place = blocks_.allocate(cells_[kCommon], block);
  if (place != kRefused) return place;
  const bool grown = extend_run(kCommon) || enter_bucket(kCommon, pool_.take_common());
  return grown ? blocks_.bump(cells_[kCommon], block) : kRefused;
}

// Adds the bucket behind the run to it; false if there is no run, or if that bucket is not unused.
template <class Memory>
bool CellHeap<Memory>::extend_run(Leaf leaf) {
  Cell& cell = cells_[leaf];
  if (!cell.has_run()) return false;
  const uint32_t last = pool_.bucket_at(cell.end - 1);
  if (cell.end != pool_.end_of(last)) return false;
  const uint32_t bucket = pool_.take_behind(last);
  if (bucket == kNone) return false;
  give_bucket(leaf, bucket);
  blocks_.extend_run(cell);
  return true;
}

// Starts a run in a new bucket; false if it is kNone.
template <class Memory>
bool CellHeap<Memory>::enter_bucket(Leaf leaf, uint32_t bucket) {
  if (bucket == kNone) return false;
  give_bucket(leaf, bucket);
  blocks_.enter_bucket(cells_[leaf], bucket);
  return true;
}

// The cell gets it first: one without buckets may be removed.
template <class Memory>
void CellHeap<Memory>::give_bucket(Leaf leaf, uint32_t bucket) {
  cells_.add_part(leaf);
  ++buckets_;
  if (pool_[bucket].cell != kNone) {
    take_away(bucket);
    pool_.clear(bucket);
  }
  pool_.assign(bucket, leaf);
}

// From its cell.
template <class Memory>
void CellHeap<Memory>::take_away(uint32_t bucket) {
  const Leaf leaf = pool_[bucket].cell;
  blocks_.forget(cells_[leaf], bucket);
  cells_.remove_part(leaf);
  --buckets_;
}

template <class Memory>
bool CellHeap<Memory>::free(Place place) {
  touch();
  Page* const page = page_of_used(place);
  if (page == nullptr) return false;
  const uint32_t at = granule_of(place), granules = page->bits.granules_of(at);
  const Place last_byte = place + granules * kGranule - 1;
  live_bytes_ -= granules * kGranule;
  unswept_ += kSweptForFree;
  Bucket& first = pool_.bucket_in(*page, place);
  Bucket& last = pool_.bucket_in(*page, last_byte);
  blocks_.free(cells_[first.cell], *page, at, granules);
  if (--first.blocks == 0) retire_bucket(*page, pool_.bucket_at(place));
  if (&last != &first && --last.blocks == 0) retire_bucket(*page, pool_.bucket_at(last_byte));
  if (--page->blocks == 0) retire_page(*page);
  return true;
}

// The bucket stays with its cell until another one gets it. Meanwhile its free blocks serve
// requests of their size; if they have several sizes, they are joined.
template <class Memory>
void CellHeap<Memory>::retire_bucket(Page& page, uint32_t bucket) {
  if (pool_[bucket].free != 0 && blocks_.equal_granules(bucket) == 0)
    blocks_.join_free(cells_[pool_[bucket].cell], bucket);
  pool_.note_empty(page);
}

// Keeps a page that has become empty until another one has: a program may allocate and free one
// object again and again.
template <class Memory>
void CellHeap<Memory>::retire_page(Page& page) {
  const uint32_t before = std::exchange(idle_page_, page.number);
  if (before == kNone || before == page.number) return;
  Page& idle = pool_.page_by_number(before);
  if (idle.blocks != 0) return;
  pool_.visit_buckets(idle, [&](uint32_t bucket) { take_away(bucket); });
  pool_.release(idle);
}

}  // namespace halo::tidy
