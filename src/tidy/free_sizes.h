// Which pages of a heap have free blocks of which sizes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tidy/metadata.h"

namespace halo::tidy {

// A bit for each page and class of sizes. It may stay set when the last such block is gone, until a
// search of the page finds none. So adding a block takes constant time. Not for several threads at
// once.
class FreeSizes {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // Each size up to 64 granules is a class; the last one has all larger sizes, too.
  static constexpr unsigned kClasses = 64;
  static unsigned class_of(uint32_t granules) { return std::min(granules, kClasses) - 1; }

  explicit FreeSizes(Metadata& metadata) : pages_(metadata), groups_(metadata) {}

  // The number of a new page, without free blocks; kNone if memory is refused.
  uint32_t add_page();

  void add(uint32_t page, uint32_t granules) {
    const uint64_t bit = uint64_t{1} << class_of(granules);
    pages_[page] |= bit;
    groups_[page / kGroup] |= bit;
  }
  void remove(uint32_t page, unsigned size_class) { pages_[page] &= ~(uint64_t{1} << size_class); }
  void clear(uint32_t page) { pages_[page] = 0; }
  bool has(uint32_t page, unsigned size_class) const {
    return (pages_[page] >> size_class & 1) != 0;
  }

  struct Found {
    uint32_t page = kNone;
    unsigned size_class = 0;
  };
  // A page with the smallest class that the next pages have, but `smallest` at least; `page` is
  // kNone if they have none. The next search begins behind it.
  Found find(unsigned smallest);

  static constexpr uint32_t kMaxPages = 1u << 24;

 private:
  static constexpr uint32_t kGroup = 64;
  static constexpr uint32_t kMaxGroups = 64;  // that a search inspects: 256 MiB of pages

  uint32_t find_class(unsigned size_class, uint32_t groups);
  uint32_t group_behind(uint32_t group) const {
    return (group + 1) * kGroup < count_ ? group + 1 : 0;
  }

  Table<uint64_t, kMaxPages> pages_;
  Table<uint64_t, kMaxPages / kGroup> groups_;  // all bits of 64 pages, and maybe more
  uint32_t count_ = 0;
  uint32_t next_ = 0;  // where the next search begins
};

}  // namespace halo::tidy
