// Memory of a heap that does not exist: only the numbers of its pages.
#pragma once

#include <cstdint>
#include <vector>

#include "tidy/page.h"
#include "tidy/watch.h"

namespace halo::tidy {

template <class OneWatch>
class WatchedMemory {
 public:
  using Watch = OneWatch;

  uint32_t acquire() {
    if (limit == 0) return kNone;
    --limit;
    if (free_.empty()) {
      pages_.push_back(nullptr);
      return static_cast<uint32_t>(pages_.size() - 1);
    }
    const uint32_t page = free_.back();
    free_.pop_back();
    return page;
  }
  void release(uint32_t page) {
    ++limit;
    free_.push_back(page);
  }
  Page<Watch>*& page(uint32_t number) { return pages_[number]; }

  // Pages that heaps have.
  size_t used() const { return pages_.size() - free_.size(); }

  uint64_t limit = UINT64_MAX;  // pages that may still be acquired

 private:
  std::vector<Page<Watch>*> pages_;
  std::vector<uint32_t> free_;
};

using SimulatedMemory = WatchedMemory<Unwatched>;

}  // namespace halo::tidy
