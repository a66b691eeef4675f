// Asking for huge pages, as long as they come cheap. Where no free one is at hand the kernel makes
// one by moving memory about, and a host may have to find memory for it, all in the program's time:
// 9 ms were seen, where a huge page usually takes 0.1 ms, and 512 small ones 0.7.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace halo::runtime {

class HugePages {
 public:
  // Whether they are still asked for. Any thread, as all of these.
  bool wanted() const { return !stopped_.load(std::memory_order_relaxed); }

  // Asks for one under `bytes`, one huge page's worth, at `memory`, and touches it.
  void ask(void* memory, std::size_t bytes);

  // A first touch took so many nanoseconds, by a clock that may be as coarse as some milliseconds:
  // the sum of many is true.
  void note(std::uint64_t nanoseconds);

  std::uint64_t asked() const { return asked_.load(std::memory_order_relaxed); }
  // Of all first touches.
  std::uint64_t nanoseconds() const { return nanoseconds_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> asked_{0};
  std::atomic<std::uint64_t> nanoseconds_{0};
  std::atomic<bool> stopped_{false};  // for good
};

}  // namespace halo::runtime
