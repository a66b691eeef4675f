// Searches for a page with free blocks of some sizes.
#include "tidy/free_sizes.h"

#include <bit>

namespace halo::tidy {

uint32_t FreeSizes::add_page() {
  if (!pages_.reserve(count_ + 1) || !groups_.reserve(count_ / kGroup + 1)) return kNone;
  return count_++;
}

FreeSizes::Found FreeSizes::find(unsigned smallest) {
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
uint32_t FreeSizes::find_class(unsigned size_class, uint32_t groups) {
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
