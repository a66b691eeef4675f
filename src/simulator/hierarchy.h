// A hierarchy of caches and TLBs with prefetching.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "simulator/cache.h"
#include "simulator/machine.h"
#include "simulator/page_ranges.h"
#include "simulator/regions.h"
#include "simulator/stream_prefetcher.h"

namespace halo::simulator {

// The index of the level that served an access, or the number of levels if none did. If an access
// touches two lines or pages, the farther one counts.
struct Reach {
  uint8_t cache = 0;
  uint8_t tlb = 0;
};

// What a hierarchy asks of the memory behind its last level, in order.
class Memory {
 public:
  // `demanded`: the program waits for it; otherwise a line that is written back needs it.
  virtual void read(Block line, bool demanded) = 0;
  // `kept`: the hierarchy's last level has the line afterwards, too.
  virtual void prefetch(Block line, bool kept) = 0;
  virtual void write_back(Block line) = 0;

 protected:
  ~Memory() = default;
};

// Stores allocate lines as well, and replaced dirty lines are written back. Each level holds the
// lines requested from it, whether or not other levels hold them. Physical addresses are assumed
// equal to virtual ones. Addresses beyond Regions::maximum() regions of 2 MiB share names.
class Hierarchy {
 public:
  // `memory` must outlive the hierarchy.
  explicit Hierarchy(const Machine& machine, Memory* memory = nullptr);

  // Marks whole huge pages within these bytes as huge.
  void use_huge_pages(uint64_t address, uint64_t bytes);

  // `size` in bytes, at least 1.
  Reach access(uint64_t address, uint32_t size, bool store) {
    ++accesses_;
    Reach reach = access_line(address, store);
    const uint64_t last = address + size - 1;
    if ((last ^ address) >> line_shift_ != 0) [[unlikely]] {
      const Reach second = access_line(last, store);
      reach = {std::max(reach.cache, second.cache), std::max(reach.tlb, second.tlb)};
    }
    return reach;
  }

  uint64_t accesses() const { return accesses_; }
  // Misses of requests by the program, by a higher level, or by a line written back to it;
  // prefetches do not count.
  uint64_t cache_misses(size_t level) const { return cache_misses_[level]; }
  uint64_t tlb_misses(size_t level) const { return tlb_misses_[level]; }
  // Lines that the prefetchers inserted into the level.
  uint64_t prefetched(size_t level) const { return prefetched_[level]; }

  // The cost of all misses: cycles more than if every access hit in the first levels.
  uint64_t cycles() const;
  // The same for one access.
  uint32_t cycles_of(Reach reach) const {
    return cache_cycles_[reach.cache] + tlb_cycles_[reach.tlb];
  }

  static constexpr size_t kMaxLevels = 4;

 private:
  Reach access_line(uint64_t address, bool store) {
    const Regions::Region& region = regions_.of(address >> Regions::kShift);
    const uint64_t page = address >> page_shift_, line = address >> line_shift_;
    const Block block = {line, uint32_t(line) + region.to_line};
    Reach reach;
    if (page != newest_page_) reach.tlb = translate({page, uint32_t(page) + region.to_page});
    if (!caches_.front().touch_newest(block, store)) reach.cache = fetch(block, store);
    return reach;
  }
  uint8_t translate(Block page) {
    newest_page_ = page.number;
    return huge_.empty() ? translate_in(tlbs_.front(), page) : translate_huge(page);
  }

  uint8_t translate_huge(Block page);
  uint8_t translate_in(Cache& first, Block page);
  uint8_t put_into_tlbs(Cache& first, Block page, size_t level);
  uint8_t fetch(Block line, bool store);
  uint8_t load(size_t level, Block line, bool store);
  void put(size_t level, Block line, bool store);
  void write_back(size_t level, Block line);
  void prefetch(size_t level, Block line);

  Machine machine_;
  Memory* memory_;  // may be null
  int line_shift_;
  int page_shift_;
  uint64_t lines_of_page_;
  Regions regions_;
  std::vector<Cache> caches_;
  std::vector<Cache> tlbs_;
  Cache huge_tlb_;
  PageRanges huge_;
  StreamPrefetcher streams_;
  uint64_t newest_page_ = UINT64_MAX;
  uint64_t demanded_ = UINT64_MAX;  // the line that missed the first level last
  uint64_t newest_huge_ = UINT64_MAX;
  uint64_t accesses_ = 0;
  std::array<uint64_t, kMaxLevels> cache_misses_{}, tlb_misses_{}, prefetched_{};
  // Accesses by the level that served them; hits of the first level are not counted.
  std::array<uint64_t, kMaxLevels + 1> cache_reached_{}, tlb_reached_{};
  std::array<uint32_t, kMaxLevels + 1> cache_cycles_{}, tlb_cycles_{};
};

}  // namespace halo::simulator
