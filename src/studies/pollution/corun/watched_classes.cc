#include "studies/pollution/corun/watched_classes.h"

#include "base/ids.h"

namespace halo::corun {

void WatchedClasses::allocate(const objects::Allocation& one, const watch::Now& now) {
  const uint64_t number = before_ + one.number;
  if (number >= objects_.size()) objects_.resize(number + 1);
  const uint64_t pages = (uint64_t{one.size} + page_bytes_ - 1) / page_bytes_;
  const watch::Mapping mapping = monitor_.allocated(number, one.size, base::index(one.context),
                                                    number << kPageBits, pages, now);
  objects_[number].predicted = objects_[number].mapping = mapping;
}

void WatchedClasses::access(uint64_t object, uint32_t offset, const watch::Now& now) {
  const uint64_t number = before_ + object;
  if (!objects_[number].has_pages) return;
  const watch::Page page = number << kPageBits | offset / page_bytes_;
  if (armed_.erase(page) != 0) monitor_.referenced(page, now);
}

void WatchedClasses::end_run(const watch::Now& now) {
  for (uint64_t number = before_; number < objects_.size(); ++number) monitor_.freed(number, now);
  before_ = objects_.size();
}

void WatchedClasses::arm(watch::Page page) {
  armed_.insert(page);
  objects_[page >> kPageBits].has_pages = true;
}

}  // namespace halo::corun
