#include "corun/watched_classes.h"

#include "base/ids.h"

namespace halo::corun {

void WatchedClasses::allocate(const objects::Allocation& one, const watch::Now& now) {
  if (one.number >= objects_.size()) objects_.resize(one.number + 1);
  const uint64_t pages = (uint64_t{one.size} + page_bytes_ - 1) / page_bytes_;
  const watch::Mapping mapping = monitor_.allocated(one.number, one.size, base::index(one.context),
                                                    one.number << kPageBits, pages, now);
  objects_[one.number].predicted = objects_[one.number].mapping = mapping;
}

void WatchedClasses::access(uint64_t object, uint32_t offset, const watch::Now& now) {
  if (!objects_[object].has_pages) return;
  const watch::Page page = object << kPageBits | offset / page_bytes_;
  if (armed_.erase(page) != 0) monitor_.referenced(page, now);
}

void WatchedClasses::arm(watch::Page page) {
  armed_.insert(page);
  objects_[page >> kPageBits].has_pages = true;
}

}  // namespace halo::corun
