// Which pages of a heap have free blocks of which sizes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "tidy/metadata.h"

namespace halo::tidy {

// Each size up to 64 granules is a class; the last one has all larger sizes, too.
inline constexpr unsigned kFreeClasses = 64;
inline unsigned free_class_of(uint32_t granules) { return std::min(granules, kFreeClasses) - 1; }

// A bit for each page and class of sizes. It may stay set when the last such block is gone, until a
// search of the page finds none. So adding a block takes constant time. Not for several threads at
// once.
template <class Tracer>
class FreeSizes {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  explicit FreeSizes(Metadata& metadata) : pages_(metadata), groups_(metadata) {}

  // The number of a new page, without free blocks; kNone if memory is refused.
  uint32_t add_page();

  void add(uint32_t page, uint32_t granules) {
    const uint64_t bit = uint64_t{1} << free_class_of(granules);
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

  Table<uint64_t, kMaxPages, Tracer> pages_;
  Table<uint64_t, kMaxPages / kGroup, Tracer> groups_;  // all bits of 64 pages, and maybe more
  uint32_t count_ = 0;
  uint32_t next_ = 0;  // where the next search begins
};

template <class Tracer>
uint32_t FreeSizes<Tracer>::add_page() {
  if (!pages_.reserve(count_ + 1) || !groups_.reserve(count_ / kGroup + 1)) return kNone;
  return count_++;
}

template <class Tracer>
auto FreeSizes<Tracer>::find(unsigned smallest) -> Found {
  if (count_ == 0) return {};
  const uint32_t groups = std::min((count_ - 1) / kGroup + 1, kMaxGroups);
  uint64_t classes = 0;
  for (uint32_t seen = 0, group = next_ / kGroup; seen < groups; ++seen) {
    classes |= groups_[group];
    group = group_behind(group);
  }
  classes &= ~uint64_t{0} << smallest;
  for (; classes != 0; classes &= classes - 1) {
    const auto size_class = static_cast<unsigned>(std::countr_zero(classes));
    const uint32_t page = find_class(size_class, groups);
    if (page == kNone) continue;
    next_ = page + 1 < count_ ? page + 1 : 0;
    return {page, size_class};
  }
  return {};
}

// From where the last search ended, through that many groups, and the rest of the first one.
template <class Tracer>
uint32_t FreeSizes<Tracer>::find_class(unsigned size_class, uint32_t groups) {
  const uint64_t bit = uint64_t{1} << size_class;
  uint32_t group = next_ / kGroup, page = next_;
  for (uint32_t seen = 0; seen <= groups; ++seen) {
    if ((groups_[group] & bit) != 0) {
      const uint32_t end = std::min((group + 1) * kGroup, count_);
      for (; page < end; ++page)
        if (has(page, size_class)) return page;
      if (seen > 0) groups_[group] &= ~bit;
    }
    group = group_behind(group);
    page = group * kGroup;
  }
  return kNone;
}

}  // namespace halo::tidy
