// Numbers of pages that hold objects, from 0, in the order of their first use.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace halo::locality {

class PageNumbers {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // `page` is an address over the size of a page.
  uint32_t find(uint64_t page) { return slot(page); }
  uint32_t number(uint64_t page) {
    uint32_t& found = slot(page);
    if (found == kNone) found = count_++;
    return found;
  }
  uint32_t count() const { return count_; }

 private:
  static constexpr uint64_t kPagesOfRegion = 1 << 12;

  uint32_t& slot(uint64_t page) {
    const uint64_t number = page / kPagesOfRegion;
    if (region_ == nullptr || number != region_number_) {
      std::vector<uint32_t>& region = regions_[number];
      if (region.empty()) region.resize(kPagesOfRegion, kNone);
      region_ = region.data();
      region_number_ = number;
    }
    return region_[page % kPagesOfRegion];
  }

  std::unordered_map<uint64_t, std::vector<uint32_t>> regions_;
  uint32_t* region_ = nullptr;  // the region used last
  uint64_t region_number_ = 0;
  uint32_t count_ = 0;
};

}  // namespace halo::locality
