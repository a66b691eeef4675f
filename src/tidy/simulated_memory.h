// Memory of a heap that does not exist: only the numbers of its pages.
#pragma once

#include <cstdint>
#include <vector>

#include "tidy/page.h"
#include "tidy/tracer.h"

namespace halo::tidy {

template <class OneTracer>
class TracedMemory {
 public:
  using Tracer = OneTracer;

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
  Page<Tracer>*& page(uint32_t number) { return pages_[number]; }

  // Pages that heaps have.
  size_t used() const { return pages_.size() - free_.size(); }

  uint64_t limit = UINT64_MAX;  // pages that may still be acquired

 private:
  std::vector<Page<Tracer>*> pages_;
  std::vector<uint32_t> free_;
};

using SimulatedMemory = TracedMemory<Untraced>;

}  // namespace halo::tidy
