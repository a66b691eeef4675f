// A range of addresses that is mapped in place, part by part.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace halo::ranges {

// An early reservation of the whole range would count against RLIMIT_AS and mlockall.
class GrowingRange {
 public:
  // The range starts at `begin`, a multiple of the page size; its first `mapped` bytes are mapped
  // already. `protection` applies to all later parts.
  void set(uintptr_t begin, size_t mapped, int protection) {
    begin_ = begin;
    protection_ = protection;
    mapped_.store(mapped, std::memory_order_relaxed);
  }

  // Maps the first `bytes` bytes, a multiple of the page size, unless they are mapped already.
  // Returns false if the kernel refuses or another mapping is in the way. Any thread; lock-free.
  bool grow(size_t bytes);

  uintptr_t begin() const { return begin_; }

 private:
  enum class Answer { kMapped, kRefused, kOccupied };
  Answer map(size_t from, size_t to);
  size_t mapped_after(size_t before);

  uintptr_t begin_ = 0;
  int protection_ = 0;
  std::atomic<size_t> mapped_{0};
  // Threads that may have mapped memory and have not raised `mapped_` yet. Invariant: while it is
  // 0, any mapping behind `mapped_` is foreign. All accesses that decide this are sequentially
  // consistent: a thread increments the counter before mmap, and stores `mapped_` before it
  // decrements. A thread that finds the place occupied therefore reads either a non-zero counter or
  // the new `mapped_`.
  std::atomic<unsigned> mapping_{0};
  std::atomic<size_t> stuck_at_{SIZE_MAX};  // no waiting at this size any more
};

// Finds an address where a range of `bytes` bytes fits and can grow: far from the kernel's next
// mappings, and at a random distance. Returns 0 if none fits. Each `attempt` returns another
// address.
uintptr_t find_room(size_t bytes, unsigned attempt);

}  // namespace halo::ranges
