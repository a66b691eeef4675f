// A range of addresses that is mapped in place, a part at a time: what is reserved long before it
// is used counts against limits on address space, and for mlockall.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace halo::runtime {

class GrowingRange {
 public:
  // From `begin` on, a multiple of pages, of which the first `mapped` bytes are mapped already.
  // `protection` is that of what comes.
  void set(std::uintptr_t begin, std::size_t mapped, int protection) {
    begin_ = begin;
    protection_ = protection;
    mapped_.store(mapped, std::memory_order_relaxed);
  }

  // Maps as many bytes, whole pages, unless they are; false where that is refused, or where
  // something else lies. Any thread, without locks.
  bool grow(std::size_t bytes);

  std::uintptr_t begin() const { return begin_; }

 private:
  enum class Answer { mapped, refused, occupied };
  Answer map(std::size_t from, std::size_t to);
  std::size_t mapped_after(std::size_t before);

  std::uintptr_t begin_ = 0;
  int protection_ = 0;
  std::atomic<std::size_t> mapped_{0};
  // Threads that have asked for memory and have not stored yet what they got. Invariant: while it
  // is 0, whatever lies behind `mapped_` is not ours.
  std::atomic<unsigned> asking_{0};
  std::atomic<std::size_t> stuck_at_{SIZE_MAX};  // no thread is waited for there any more
};

// Where a range of so many bytes can be begun and grow: far from where the kernel puts what the
// program maps, and elsewhere in each process. 0 where there is no such place; there are several.
std::uintptr_t find_room(std::size_t bytes, unsigned attempt);

}  // namespace halo::runtime
