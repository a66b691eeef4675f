// Which units of a range are free, and where a run of them fits.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace halo::runtime {

// A bit for each unit, set while the unit is in use. The memory of the bits is mapped by
// `reserve`, and only touched parts of it are resident.
class UnitMap {
 public:
  static constexpr size_t kNowhere = SIZE_MAX;

  // Returns false if there is no memory. All units are free.
  bool reserve(size_t units) {
    void* p = mmap(nullptr, units / 8 + sizeof(uint64_t), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return false;
    words_ = static_cast<uint64_t*>(p);
    units_ = units;
    return true;
  }

  // The first run of `count` free units, by address; `kNowhere` if there is none.
  size_t find(size_t count) const {
    for (size_t begin = first_free_; begin + count <= units_;) {
      begin = next(begin, false, units_);
      if (begin + count > units_) break;
      const size_t end = next(begin, true, begin + count);
      if (end == begin + count) return begin;
      begin = end;
    }
    return kNowhere;
  }

  void take(size_t begin, size_t count) {
    for (size_t at = begin; at < begin + count; ++at) words_[at / 64] |= bit(at);
    if (begin == first_free_) first_free_ = begin + count;
  }

  void release(size_t begin, size_t count) {
    for (size_t at = begin; at < begin + count; ++at) words_[at / 64] &= ~bit(at);
    if (begin < first_free_) first_free_ = begin;
  }

 private:
  static uint64_t bit(size_t at) { return uint64_t{1} << (at % 64); }

  // The first unit from `at` to `end` that is in use, or free; `end` if there is none.
  size_t next(size_t at, bool used, size_t end) const {
    while (at < end) {
      const uint64_t word = used ? words_[at / 64] : ~words_[at / 64];
      const uint64_t rest = word >> (at % 64);
      if (rest != 0) return std::min(at + static_cast<size_t>(std::countr_zero(rest)), end);
      at = (at / 64 + 1) * 64;
    }
    return end;
  }

  uint64_t* words_ = nullptr;
  size_t units_ = 0;
  size_t first_free_ = 0;  // no unit below is free
};

}  // namespace halo::runtime
