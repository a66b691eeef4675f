// The leaves of a directory with what is kept of each: cells, or clusters.
#pragma once

#include <cstdint>

#include "tidy/directory.h"
#include "tidy/metadata.h"

namespace halo::tidy {

// A leaf has parts: the buckets of a cell, or the pages of a cluster.
struct LeafRecord {
  KeyRange keys;           // since it was made or split
  uint32_t parts = 0;      // that it has
  uint32_t filled = 0;     // parts added since it was made or split
  uint32_t next_free = 0;  // the next unused number
  bool in_use = false;     // the directory has it
};

// `Record` is derived from LeafRecord; a new leaf has a default one. Leaves without parts may stay,
// but at most kMaxIdle more of them than twice those with parts.
template <class Record, uint32_t kMax, class Tracer>
class Leaves {
 public:
  // The first leaf, and one of no directory: no key leads to it.
  static constexpr Leaf kRoot = 0, kCommon = 1;

  explicit Leaves(Metadata& metadata) : directory_(metadata), records_(metadata) {}

  // False if memory is refused.
  bool open() {
    if (!directory_.open(kRoot) || !records_.reserve(kCommon + 1)) return false;
    records_[kRoot] = records_[kCommon] = Record{};
    records_[kRoot].in_use = true;
    return true;
  }

  Leaf find(uint64_t key) { return directory_.find(key); }
  template <class Visit>
  bool visit_near(Leaf leaf, uint64_t key, int max, const Visit& visit) const {
    return directory_.visit_near(leaf, key, max, visit);
  }
  Record& operator[](Leaf leaf) { return records_[leaf]; }
  // Leaves of the directory.
  uint32_t count() const { return count_; }

  // Splits a leaf at the highest bit in which its keys and `key` differ. Returns the leaf of `key`:
  // the old one if `keep`, or if memory is refused.
  Leaf split(Leaf leaf, uint64_t key, bool keep) {
    KeyRange keys = records_[leaf].keys;
    keys.add(key);
    const unsigned bit = keys.top_bit();
    const bool side = (key >> bit & 1) != 0;
    remove_idle(leaf);
    const Leaf other = free_ != kNone ? free_ : used_;
    if (!records_.reserve(other + 1) || !directory_.split(leaf, other, bit, keep == side))
      return leaf;
    if (other == free_) {
      free_ = records_[other].next_free;
    } else {
      ++used_;
    }
    ++count_;
    records_[other] = Record{};
    records_[other].in_use = true;
    const Leaf found = keep ? leaf : other;
    if (keep) {
      records_[leaf].keys.clear();
      records_[leaf].filled = 0;
    }
    records_[found].keys.add(key);
    return found;
  }

  void add_part(Leaf leaf) {
    Record& record = records_[leaf];
    if (record.parts++ == 0 && leaf != kCommon) ++occupied_;
    ++record.filled;
  }

  // A leaf without parts is removed: its sibling gets its keys. The only leaf stays.
  void remove_part(Leaf leaf) {
    if (--records_[leaf].parts != 0 || leaf == kCommon) return;
    --occupied_;
    remove(leaf);
    remove_idle(kNone);
  }

 private:
  static constexpr Leaf kNone = UINT32_MAX;
  static constexpr uint32_t kMaxIdle = 64;

  void remove(Leaf leaf) {
    if (!directory_.remove(leaf)) return;
    records_[leaf].in_use = false;
    records_[leaf].next_free = free_;
    free_ = leaf;
    --count_;
  }

  // Removes the leaves without parts, except `leaf`, if they are more than the others, so that the
  // search takes constant time for each of them.
  void remove_idle(Leaf leaf) {
    if (count_ <= 2 * occupied_ + kMaxIdle) return;
    for (Leaf at = 0; at < used_; ++at)
      if (at != leaf && records_[at].in_use && records_[at].parts == 0) remove(at);
  }

  Directory<Tracer> directory_;
  Table<Record, kMax, Tracer> records_;
  uint32_t used_ = kCommon + 1;  // numbers
  uint32_t free_ = kNone;        // head of the list of unused ones
  uint32_t count_ = 1, occupied_ = 0;
};

}  // namespace halo::tidy
