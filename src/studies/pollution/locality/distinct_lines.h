// How many different lines a program has accessed since a moment: exact stack distances
// (Mattson et al., IBM Systems Journal, 1970).
#pragma once

#include <bit>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace halo::locality {

// A moment is the number of accesses before it. A bit for each access says whether it is the last
// one of its line; counts of the bits in blocks make a question cost little, and an access less.
class DistinctLines {
 public:
  using Moment = uint64_t;

  Moment now() const { return accesses_; }

  // `line` is an address over the size of a line.
  void access(uint64_t line) {
    if (line == newest_) return;
    newest_ = line;
    Moment& last = last_of(line);
    if (last != 0) change(last - 1, -1);
    if (accesses_ / kBlock >= counts_.size()) grow();
    change(accesses_, 1);
    last = ++accesses_;
  }

  // Lines that were accessed at that moment or later.
  uint64_t since(Moment moment) const {
    uint64_t found = 0;
    uint64_t at = moment;
    for (; at % kBlock != 0 && at < accesses_;) {
      const uint64_t word = words_[at / 64] >> at % 64;
      found += uint64_t(std::popcount(word));
      at += 64 - at % 64;
    }
    for (uint64_t block = at / kBlock; at < accesses_; ++block) {
      if (block % kBlocksOfGroup == 0 && (block + kBlocksOfGroup) * kBlock <= accesses_) {
        found += groups_[block / kBlocksOfGroup];
        block += kBlocksOfGroup - 1;
      } else {
        found += counts_[block];
      }
      at = (block + 1) * kBlock;
    }
    return found;
  }

 private:
  static constexpr uint64_t kBlock = 4096;  // accesses
  static constexpr uint64_t kBlocksOfGroup = 1024;
  static constexpr uint64_t kLinesOfRegion = 1 << 15;

  // The number of the line's last access, from 1; 0: none.
  Moment& last_of(uint64_t line) {
    const uint64_t number = line / kLinesOfRegion;
    if (region_ == nullptr || number != region_number_) {
      std::vector<Moment>& region = regions_[number];
      if (region.empty()) region.resize(kLinesOfRegion);
      region_ = region.data();
      region_number_ = number;
    }
    return region_[line % kLinesOfRegion];
  }

  void change(uint64_t access, int by) {
    words_[access / 64] ^= uint64_t{1} << access % 64;
    counts_[access / kBlock] += uint32_t(by);
    groups_[access / kBlock / kBlocksOfGroup] += uint64_t(int64_t{by});
  }

  void grow() {
    counts_.push_back(0);
    words_.resize(counts_.size() * (kBlock / 64));
    groups_.resize((counts_.size() - 1) / kBlocksOfGroup + 1);
  }

  std::vector<uint64_t> words_;
  std::vector<uint32_t> counts_;  // bits in each block
  std::vector<uint64_t> groups_;  // and in each group of blocks
  std::unordered_map<uint64_t, std::vector<Moment>> regions_;
  Moment* region_ = nullptr;  // the region used last
  uint64_t region_number_ = 0;
  uint64_t newest_ = UINT64_MAX;
  uint64_t accesses_ = 0;  // those to another line than the one before
};

}  // namespace halo::locality
