// A set of pages, as ranges.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

namespace halo::simulator {

// Memory grows with the number of ranges that do not touch, not with that of pages.
class PageRanges {
 public:
  // The pages from `first` on, before `end`.
  void add(uint64_t first, uint64_t end) {
    if (first >= end) return;
    auto next = ends_.upper_bound(first);
    if (next != ends_.begin() && std::prev(next)->second >= first) {
      --next;
      first = next->first;
    }
    while (next != ends_.end() && next->first <= end) {
      end = std::max(end, next->second);
      next = ends_.erase(next);
    }
    ends_.emplace_hint(next, first, end);
  }
  bool contains(uint64_t page) const {
    const auto next = ends_.upper_bound(page);
    return next != ends_.begin() && page < std::prev(next)->second;
  }
  bool empty() const { return ends_.empty(); }

 private:
  std::map<uint64_t, uint64_t> ends_;  // of ranges that do not touch, by their first page
};

}  // namespace halo::simulator
