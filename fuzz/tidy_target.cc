// Tidy's heap against a list of blocks.
#include "fuzz/tidy_target.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "fuzz/bytes.h"
#include "fuzz/finding.h"
#include "tidy/cell_heap.h"
#include "tidy/simulated_memory.h"

namespace halo::fuzz {
namespace {

using tidy::kPageBytes;
using tidy::Place;
using tidy::SimulatedMemory;
using Heap = tidy::CellHeap<SimulatedMemory>;

constexpr uint32_t kBuckets = 11;  // sizes of buckets: 64 bytes to 64 KiB
constexpr uint32_t kMaxFewPages = 4;

tidy::HeapSettings read_settings(Bytes& bytes) {
  return {.bucket_bytes = 64u << bytes.below(kBuckets),
          .split_after = 1 + bytes.below(8),
          .adaptive = bytes.below(4) != 0};
}

class Run {
 public:
  explicit Run(Bytes bytes) : bytes_(bytes), heap_(memory_, read_settings(bytes_)) {
    require(heap_.open(), "the heap does not open");
    usual_ = 1 + bytes_.below(heap_.max_bytes());
  }

  void run() {
    while (!bytes_.empty()) step();
    memory_.limit = UINT64_MAX;
    for (const auto& [place, block] : blocks_)
      require(heap_.size_of(place) == block, "a used block has another size in the end");
    while (!blocks_.empty()) free(blocks_.begin()->first);
    require(memory_.used() <= 1, "memory is left without objects");
    // The last page has buckets of cells.
    const uint64_t occupied = kPageBytes / heap_.max_bytes();
    require(heap_.counts().cells <= 2 * occupied + kIdleCells, "cells are left without objects");
  }

 private:
  static constexpr uint64_t kIdleCells = 66;

  void step() {
    switch (bytes_.below(8)) {
      case 0:
      case 1:
      case 2:
        return add(heap_.allocate(key(), size()));
      case 3:
        return add(heap_.allocate_common(size()));
      case 4:
        return end_ == 0 ? add(heap_.allocate_common(size()))
                         : add(heap_.allocate_near(any_place(), size()));
      case 5:
        memory_.limit = bytes_.below(2) != 0 ? bytes_.below(kMaxFewPages) : UINT64_MAX;
        return;
      default:
        return free(any_place());
    }
  }

  uint64_t key() {
    switch (bytes_.below(4)) {
      case 0:
        return bytes_.below(4);
      case 1:
        return uint64_t{1} << bytes_.below(64);
      case 2:
        return drift_ += bytes_.below(256);
      default:
        return uint64_t{bytes_.word()} << 32 | bytes_.word();
    }
  }

  uint32_t size() {
    last_size_ = bytes_.below(3) != 0 ? usual_ : 1 + bytes_.below(heap_.max_bytes());
    return last_size_;
  }

  // A used block, or sometimes another place in a page that the heap has or had.
  Place any_place() {
    if (blocks_.empty()) return 0;
    const Place at = bytes_.below(static_cast<uint32_t>(end_ / tidy::kGranule)) * tidy::kGranule;
    const auto block = blocks_.lower_bound(at);
    if (block == blocks_.end()) return blocks_.begin()->first;
    return bytes_.below(16) == 0 ? block->first + 1 + bytes_.below(block->second) : block->first;
  }

  void add(Place place) {
    const uint32_t block = (last_size_ + tidy::kGranule - 1) / tidy::kGranule * tidy::kGranule;
    if (place == Heap::kRefused) {
      require(memory_.limit == 0, "memory is refused although there is some");
      return;
    }
    require(place % (block % 16 == 0 ? 16 : 8) == 0, "a block is not aligned");
    require(place / kPageBytes == (place + block - 1) / kPageBytes, "a block leaves its page");
    require(heap_.size_of(place) == block, "a new block has another size");
    const auto behind = blocks_.lower_bound(place);
    require(behind == blocks_.end() || place + block <= behind->first, "blocks overlap");
    require(
        behind == blocks_.begin() || std::prev(behind)->first + std::prev(behind)->second <= place,
        "blocks overlap");
    blocks_[place] = block;
    live_ += block;
    end_ = std::max(end_, place + block);
    check();
  }

  void free(Place place) {
    if (end_ == 0) return;
    const auto block = blocks_.find(place);
    const bool is_used = block != blocks_.end();
    require(heap_.free(place) == is_used, "a free is not what the block was");
    if (!is_used) return;
    live_ -= block->second;
    blocks_.erase(block);
    require(heap_.size_of(place) == 0, "a freed block is used");
    check();
  }

  void check() {
    require(heap_.counts().live_bytes == live_, "the live bytes are wrong");
    require(heap_.resident() >= live_, "less is resident than live");
  }

  Bytes bytes_;
  SimulatedMemory memory_;
  Heap heap_;
  uint32_t usual_ = 1, last_size_ = 1;
  uint64_t drift_ = 0, live_ = 0;
  Place end_ = 0;  // of all blocks there ever were
  std::map<Place, uint32_t> blocks_;
};

Input make(Random& random) {
  Input input(64 + random() % 16'000);
  for (auto& byte : input) byte = static_cast<uint8_t>(random());
  // Long stretches without frees, or almost only frees.
  const auto favoured = static_cast<uint8_t>(random() % 8);
  for (size_t at = 8; at < input.size(); at += 1 + random() % 12)
    if (random() % 2 != 0) input[at] = favoured;
  return input;
}

void run(std::span<const uint8_t> input) { Run(Bytes(input)).run(); }

}  // namespace

const Target kTidyTarget = {"tidy", 64, make, run};

}  // namespace halo::fuzz
