// Requests huge pages while they are cheap.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace halo::runtime {

// If no huge page is free, the kernel compacts memory, and a host may have to find memory for it,
// during the program's access. We measured 9 ms for one, while a huge page usually takes 0.1 ms and
// 512 small pages 0.7 ms.
//
// All members may be called by any thread. The counters are relaxed: a lost order only delays the
// stop.
class HugePages {
 public:
  // Whether huge pages are still requested.
  bool wanted() const { return !stopped_.load(std::memory_order_relaxed); }

  // Requests a huge page for the `bytes` bytes at `memory`, which it covers as a whole, and touches
  // it.
  void request(void* memory, size_t bytes);

  // Counts a first touch that took `nanoseconds`. The clock may have a resolution of some
  // milliseconds, which averages out over many touches.
  void record_touch(uint64_t nanoseconds);

  uint64_t requested() const { return requested_.load(std::memory_order_relaxed); }
  // The sum over all first touches.
  uint64_t nanoseconds() const { return nanoseconds_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> requested_{0};
  std::atomic<uint64_t> nanoseconds_{0};
  // The same of recent touches, by which is decided.
  std::atomic<uint64_t> recent_{0};
  std::atomic<uint64_t> recent_nanoseconds_{0};
  std::atomic<bool> stopped_{false};  // never reset
};

}  // namespace halo::runtime
