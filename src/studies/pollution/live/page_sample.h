// A clock for processors without counters: the traps of a sample of all pages of spans, kept armed
// (SHARDS; Waldspurger et al., FAST 2015).
#pragma once

#include <cstdint>
#include <vector>

#include "studies/pollution/monitor/number_map.h"
#include "studies/pollution/traps/traps.h"

namespace halo::watching {

// A page belongs to the sample if its hash is among one of `rate`. If there are more than the
// capacity, the distances are too small, which errs towards hits. All memory is allocated at once.
class PageSample {
 public:
  static constexpr uint32_t kCapacity = 512;
  static constexpr uint32_t kLinesOfPage = 64;
  // With fewer pages, a distance has a relative error of more than a quarter: it is unknown.
  static constexpr uint32_t kMinPages = 16;

  // `rate` is at least 1.
  explicit PageSample(uint32_t rate) : rate_(rate), by_address_(kCapacity), pages_(kCapacity) {
    free_.reserve(kCapacity);
    for (uint32_t at = kCapacity; at-- > 0;) free_.push_back(at);
  }

  uint32_t rate() const { return rate_; }

  // Adds the pages of a new span that belong to the sample. `density`: sixteenths of a line.
  void add(uintptr_t begin, uintptr_t end, uint32_t density) {
    for (uintptr_t at = begin; at < end && !free_.empty(); at += traps::kPageBytes)
      if (belongs(at)) {
        pages_[free_.back()] = {at, density, 0};
        by_address_.insert(at, free_.back());
        free_.pop_back();
      }
  }

  // The pages of a span that ends. They are disarmed.
  void remove(uintptr_t begin, uintptr_t end, traps::Traps& traps) {
    for (uint32_t at = 0; at < kCapacity; ++at) {
      if (pages_[at].address < begin || pages_[at].address >= end) continue;
      traps.disarm(pages_[at].address);
      by_address_.erase(pages_[at].address);
      pages_[at] = {};
      free_.push_back(at);
    }
  }

  void arm(traps::Traps& traps) const {
    for (const Page& page : pages_)
      if (page.address != 0 && !traps.is_armed(page.address)) traps.arm(page.address);
  }

  bool contains(uintptr_t page) const {
    return by_address_.find(page) != watch::NumberMap::kAbsent;
  }

  void accessed(uintptr_t address) {
    const uint32_t at = by_address_.find(address);
    if (at == watch::NumberMap::kAbsent) return;
    pages_[at].trap = ++traps_;
  }

  uint64_t traps() const { return traps_; }
  // Lines that were accessed so far, at most.
  uint64_t accesses() const { return traps_ * kLinesOfPage * rate_; }

  // Different lines that were accessed since that many traps, at least; 0: unknown.
  uint64_t lines_since(uint64_t traps) const {
    uint64_t pages = 0, sixteenths = 0;
    for (const Page& page : pages_)
      if (page.address != 0 && page.trap > traps) {
        ++pages;
        sixteenths += page.density;
      }
    return pages < kMinPages ? 0 : sixteenths * rate_ / 16;
  }

 private:
  struct Page {
    uintptr_t address = 0;  // 0: free
    uint32_t density = 0;
    uint64_t trap = 0;  // the number of its last one; 0: none
  };

  bool belongs(uintptr_t address) const {
    uint64_t mixed = (address / traps::kPageBytes + 1) * 0x9e3779b97f4a7c15;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    return (mixed >> 40) % rate_ == 0;
  }

  uint32_t rate_;
  watch::NumberMap by_address_;
  std::vector<Page> pages_;
  std::vector<uint32_t> free_;
  uint64_t traps_ = 0;
};

}  // namespace halo::watching
