// Where cells get their buckets: from pages of clusters, so that cells near each other share pages.
#pragma once

#include <bit>
#include <cstdint>

#include "tidy/cell.h"
#include "tidy/free_sizes.h"
#include "tidy/leaves.h"
#include "tidy/metadata.h"
#include "tidy/page.h"

namespace halo::tidy {

// `Memory` has the pages' addresses, and their numbers:
//
//   uint32_t acquire();            a page, or kNone if memory is refused
//   void release(uint32_t page);
//   Page<Tracer>*& page(uint32_t number);  what the pool keeps of an acquired page
//   Tracer                          of the heap's tables (tracer.h)
//
// A bucket that it gives may be one without used blocks of another cell, which has to forget it
// first; `assign` makes it the new cell's. So free blocks stay what they are until then. A cluster
// is split like a cell, when some pages of it are full. Not for several threads at once.
template <class Memory>
class BucketPool {
 public:
  using Tracer = typename Memory::Tracer;
  using Page = tidy::Page<Tracer>;

  BucketPool(Memory& memory, Metadata& metadata, uint32_t bucket_bytes)
      : memory_(&memory),
        metadata_(&metadata),
        bucket_shift_(static_cast<uint32_t>(std::countr_zero(bucket_bytes))),
        clusters_(metadata),
        sizes_(metadata),
        records_(metadata) {}

  // False if memory is refused.
  bool open() { return clusters_.open(); }

  // A bucket for a cell, near those of other cells with such keys; kNone if memory is refused.
  uint32_t take(uint64_t key) {
    const Leaf leaf = clusters_.find(key);
    clusters_[leaf].keys.add(key);
    return take_from(leaf, key);
  }
  // A bucket for objects without a cell of their own.
  uint32_t take_common() { return take_from(Clusters::kCommon, 0); }
  // An empty bucket, wherever it is; kNone if there is none.
  uint32_t take_empty() {
    while (with_empty_ != kNone) {
      const uint32_t bucket = find_empty(touched_page(with_empty_));
      if (bucket != kNone) return bucket;
    }
    return kNone;
  }
  // The bucket directly behind `bucket`, if it was never used and belongs to the same page; else
  // kNone.
  uint32_t take_behind(uint32_t bucket) {
    Page& page = page_of(bucket);
    page.touch();
    if (index_of(bucket) + 1 != page.next_bucket || page.next_bucket == in_page()) return kNone;
    return take_unused(page);
  }

  // Makes it the cell's; no other has it any more.
  void assign(uint32_t bucket, uint32_t cell) { (*this)[bucket] = {cell, kNone, kNone, 0, 0, 0}; }

  // A bucket of that page has become empty.
  void note_empty(Page& page) {
    list(page);
    clusters_[page.cluster].spare = page.number;
  }
  // Makes one free block of an empty bucket, which its cell has forgotten.
  void clear(uint32_t bucket);
  // Returns a page without used blocks. No cell has a bucket of it any more.
  void release(Page& page);

  // The page from which a cell with this key would take a bucket; nullptr if there is none.
  Page* page_near(uint64_t key) {
    const uint32_t number = clusters_[clusters_.find(key)].page;
    return number == kNone ? nullptr : memory_->page(number);
  }

  // Notes a free block that starts in that page.
  void add_free(const Page& page, uint32_t granules) { sizes_.add(page.sizes, granules); }
  FreeSizes<Tracer>& free_sizes() { return sizes_; }
  // The page with that number in free_sizes().
  Page& page_of_sizes(uint32_t number) { return *records_[number].page; }

  // Returns all pages. The pool cannot be used afterwards.
  void release_all() {
    for (uint32_t at = 0; at < made_; ++at)
      if (records_[at].page->number != kNone) memory_->release(records_[at].page->number);
  }

  // The page at `place`, one of the memory; nullptr if it is free.
  Page* page_at(Place place) { return memory_->page(static_cast<uint32_t>(place / kPageBytes)); }
  Page& page_by_number(uint32_t number) { return *memory_->page(number); }
  Page& page_of(uint32_t bucket) { return *memory_->page(bucket >> (kPageShift - bucket_shift_)); }
  Bucket& operator[](uint32_t bucket) { return page_of(bucket).bucket(index_of(bucket)); }
  // The bucket of a page, by a place in it.
  Bucket& bucket_in(Page& page, Place place) const {
    return page.bucket(place % kPageBytes >> bucket_shift_);
  }
  uint32_t bucket_at(Place place) const { return static_cast<uint32_t>(place >> bucket_shift_); }
  Place begin_of(uint32_t bucket) const { return Place{bucket} << bucket_shift_; }
  Place end_of(uint32_t bucket) const { return begin_of(bucket) + bucket_bytes(); }
  uint32_t bucket_bytes() const { return 1u << bucket_shift_; }

  // Calls visit(bucket) with the next `max` buckets, in a fixed cycle, that are cells'.
  template <class Visit>
  void sweep(uint64_t max, const Visit& visit) {
    for (; max > 0 && made_ > 0; --max) {
      Page& page = *records_[swept_].page;
      page.touch();
      const bool is_used = page.number != kNone && swept_bucket_ < page.next_bucket;
      const uint32_t bucket = page.number * in_page() + swept_bucket_;
      if (++swept_bucket_ >= page.next_bucket) {
        swept_ = swept_ + 1 < made_ ? swept_ + 1 : 0;
        swept_bucket_ = 0;
      }
      if (is_used) visit(bucket);
    }
  }

  // Calls visit(bucket) with all buckets of the page that are cells'.
  template <class Visit>
  void visit_buckets(const Page& page, const Visit& visit) const {
    for (uint32_t at = 0; at < page.next_bucket; ++at) visit(page.number * in_page() + at);
  }

  // Bytes of system pages that buckets may have touched, and of what is kept of their pages.
  uint64_t resident() const { return resident_; }

 private:
  static constexpr uint32_t kMaxClusters = 1u << 22;
  // Full pages of a cluster, after which it is split. With one, a third of the pages' memory is
  // unused, and the records of pages take most of the permitted free memory.
  static constexpr uint32_t kSplitAfter = 4;
  using Clusters = Leaves<Cluster, kMaxClusters, Tracer>;

  // Buckets of a page: a power of two.
  uint32_t in_page() const { return kPageBytes >> bucket_shift_; }
  uint32_t index_of(uint32_t bucket) const { return bucket & (in_page() - 1); }
  size_t record_bytes() const { return sizeof(Page) + in_page() * sizeof(Bucket); }
  uint64_t touched_bytes(const Page& page) const {
    const uint64_t bytes = uint64_t{page.next_bucket} << bucket_shift_;
    return (bytes + kSystemPage - 1) / kSystemPage * kSystemPage;
  }

  Page& touched_page(uint32_t number) {
    Page& page = *memory_->page(number);
    page.touch();
    return page;
  }
  uint32_t take_from(Leaf leaf, uint64_t key);
  uint32_t take_of(Cluster& cluster);
  Page* add_page(Leaf leaf);
  uint32_t take_unused(Page& page);
  uint32_t find_empty(Page& page);
  void list(Page& page);
  void unlist(Page& page);

  Memory* memory_;
  Metadata* metadata_;
  const uint32_t bucket_shift_;  // log2 of a bucket's bytes
  Clusters clusters_;
  uint32_t with_empty_ = kNone;   // head of the list of pages with empty buckets
  Page* unused_pages_ = nullptr;  // records without a page
  FreeSizes<Tracer> sizes_;
  struct Record {
    Page* page;
  };
  Table<Record, FreeSizes<Tracer>::kMaxPages, Tracer>
      records_;  // all, by their numbers in `sizes_`
  uint32_t made_ = 0;
  uint32_t swept_ = 0, swept_bucket_ = 0;  // where `sweep` is
  uint64_t resident_ = 0;
};

template <class Memory>
uint32_t BucketPool<Memory>::take_from(Leaf leaf, uint64_t key) {
  const uint32_t bucket = take_of(clusters_[leaf]);
  if (bucket != kNone) return bucket;
  if (clusters_[leaf].filled >= kSplitAfter && clusters_[leaf].keys.differs())
    leaf = clusters_.split(leaf, key, true);
  Page* const page = add_page(leaf);
  return page == nullptr ? kNone : take_unused(*page);
}

// From its two pages; kNone if they are full.
template <class Memory>
uint32_t BucketPool<Memory>::take_of(Cluster& cluster) {
  for (const uint32_t number : {cluster.page, cluster.spare}) {
    if (number == kNone) continue;
    Page& page = touched_page(number);
    uint32_t bucket = find_empty(page);
    if (bucket == kNone && page.next_bucket < in_page()) bucket = take_unused(page);
    if (bucket == kNone) continue;
    cluster.page = number;
    return bucket;
  }
  return kNone;
}

// An empty bucket of the page, if it is listed. If it has none, it is not listed any more.
template <class Memory>
uint32_t BucketPool<Memory>::find_empty(Page& page) {
  if (!page.listed) return kNone;
  for (uint32_t seen = 0; seen < page.next_bucket; ++seen) {
    if (page.sought >= page.next_bucket) page.sought = 0;
    const uint32_t at = page.sought++;
    if (page.bucket(at).blocks == 0) return page.number * in_page() + at;
  }
  unlist(page);
  return kNone;
}

template <class Memory>
auto BucketPool<Memory>::add_page(Leaf leaf) -> Page* {
  Page* page = unused_pages_;
  if (page == nullptr) {
    page = static_cast<Page*>(metadata_->take(record_bytes()));
    if (page == nullptr || !records_.reserve(made_ + 1)) return nullptr;
    page->sizes = sizes_.add_page();
    if (page->sizes == FreeSizes<Tracer>::kNone) return nullptr;
    page->number = kNone;
    records_[page->sizes].page = page;
    made_ = page->sizes + 1;
    unused_pages_ = page;
  }
  const uint32_t number = memory_->acquire();
  if (number == kNone) return nullptr;
  unused_pages_ = page->unused;
  memory_->page(number) = page;
  page->touch();
  page->number = number;
  page->cluster = leaf;
  page->next_bucket = page->sought = page->blocks = 0;
  page->next = page->previous = kNone;
  page->listed = false;
  clusters_[leaf].page = number;
  clusters_.add_part(leaf);
  resident_ += record_bytes();
  return page;
}

template <class Memory>
uint32_t BucketPool<Memory>::take_unused(Page& page) {
  const uint64_t before = touched_bytes(page);
  const uint32_t at = page.next_bucket++;
  resident_ += touched_bytes(page) - before;
  const uint32_t bucket = page.number * in_page() + at;
  assign(bucket, kNone);
  return bucket;
}

template <class Memory>
void BucketPool<Memory>::clear(uint32_t bucket) {
  Page& page = page_of(bucket);
  const uint32_t granules = bucket_bytes() / kGranule;
  const uint32_t begin = index_of(bucket) * granules, end = begin + granules;
  page.bits.set_start(begin);  // ends a free block that reached up to it
  page.bits.clear_starts(begin + 1, end);
  // A free block that reached behind it now begins there.
  if (end < kPageGranules) page.bits.set_start(end);
}

template <class Memory>
void BucketPool<Memory>::release(Page& page) {
  unlist(page);
  sizes_.clear(page.sizes);
  resident_ -= touched_bytes(page) + record_bytes();
  page.bits.clear_starts(0, kPageGranules);
  Cluster& cluster = clusters_[page.cluster];
  if (cluster.page == page.number) cluster.page = kNone;
  if (cluster.spare == page.number) cluster.spare = kNone;
  clusters_.remove_part(page.cluster);
  memory_->page(page.number) = nullptr;
  memory_->release(page.number);
  page.number = kNone;
  page.next_bucket = 0;
  page.unused = unused_pages_;
  unused_pages_ = &page;
}

template <class Memory>
void BucketPool<Memory>::list(Page& page) {
  if (page.listed) return;
  page.listed = true;
  page.previous = kNone;
  page.next = with_empty_;
  if (with_empty_ != kNone) touched_page(with_empty_).previous = page.number;
  with_empty_ = page.number;
}

template <class Memory>
void BucketPool<Memory>::unlist(Page& page) {
  if (!page.listed) return;
  page.listed = false;
  if (page.next != kNone) touched_page(page.next).previous = page.previous;
  if (page.previous != kNone) {
    touched_page(page.previous).next = page.next;
  } else {
    with_empty_ = page.next;
  }
}

}  // namespace halo::tidy
