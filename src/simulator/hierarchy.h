// Caches and TLBs one behind the other, with prefetching.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "simulator/cache.h"
#include "simulator/machine.h"
#include "simulator/regions.h"
#include "simulator/stream_prefetcher.h"

namespace halo::simulator {

// How far an access had to go: the index of the level that had it, or their number where none did.
// Of an access that touches two lines or pages, the farther one.
struct Reach {
  uint8_t cache = 0;
  uint8_t tlb = 0;
};

// Lines are allocated on stores too, and written back when they are replaced. A level holds what
// was asked of it, whether or not others hold it as well. Physical addresses are taken to be the
// virtual ones. Addresses beyond Regions::most() regions of 2 MiB are not told apart.
class Hierarchy {
 public:
  explicit Hierarchy(const Machine& machine);

  // These bytes lie on huge pages from now on, but for what is less than one at either end.
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
  // Whatever was asked of the level in vain, by the program, by a higher level or by a line written
  // back to it that it does not have; but not by the prefetchers.
  uint64_t cache_misses(size_t level) const { return cache_misses_[level]; }
  uint64_t tlb_misses(size_t level) const { return tlb_misses_[level]; }
  // Lines that the prefetchers put into the level.
  uint64_t prefetched(size_t level) const { return prefetched_[level]; }

  // What all misses cost, in cycles more than if every access were a hit in the first levels.
  uint64_t cycles() const;
  // The same of one access.
  uint32_t cycles_of(Reach reach) const {
    return cache_cycles_[reach.cache] + tlb_cycles_[reach.tlb];
  }

  static constexpr size_t kMostLevels = 4;

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
  int line_shift_;
  int page_shift_;
  uint64_t lines_of_page_;
  Regions regions_;
  std::vector<Cache> caches_;
  std::vector<Cache> tlbs_;
  Cache huge_tlb_;
  std::unordered_set<uint64_t> huge_;  // numbers of huge pages
  StreamPrefetcher streams_;
  uint64_t newest_page_ = UINT64_MAX;
  uint64_t newest_huge_ = UINT64_MAX;
  uint64_t accesses_ = 0;
  std::array<uint64_t, kMostLevels> cache_misses_{}, tlb_misses_{}, prefetched_{};
  // By what had it; the accesses that the first level had are not counted.
  std::array<uint64_t, kMostLevels + 1> cache_reached_{}, tlb_reached_{};
  std::array<uint32_t, kMostLevels + 1> cache_cycles_{}, tlb_cycles_{};
};

}  // namespace halo::simulator
