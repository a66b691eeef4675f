// Requests huge pages while they are cheap.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace halo::runtime {

// If no huge page is free, the kernel compacts memory, and a host may have to find memory for it,
// during the program's access. We measured 9 ms for one, while a huge page usually takes 0.1 ms and
// 512 small pages 0.7 ms. What a first touch takes beyond that of small pages is lost. The program
// may lose 50 ms, and a sixteenth of its time: no huge pages are requested while it has lost more.
//
// Times are nanoseconds. Members that take the time `at` are for tests. All may be called by any
// thread. The counters are relaxed: a lost update only delays the decision.
class HugePages {
 public:
  // Whether huge pages are requested now.
  bool wanted() const { return wanted(now()); }
  bool wanted(uint64_t at) const;

  // Requests a huge page for the `bytes` bytes at `memory`, which it covers as a whole, and touches
  // it.
  void request(void* memory, size_t bytes);

  // Counts a first touch that took `nanoseconds` and ended `at`. They are of the thread's processor
  // time: a process may be stopped, or wait for a processor, while it touches a page.
  void record_touch(uint64_t nanoseconds, uint64_t at);

  uint64_t requested() const { return requested_.load(std::memory_order_relaxed); }
  // The sum over all first touches.
  uint64_t nanoseconds() const { return nanoseconds_.load(std::memory_order_relaxed); }

 private:
  static uint64_t now();
  // What is lost, less what the time since the last touch permits; 0 at least.
  uint64_t lost(uint64_t at) const;

  std::atomic<uint64_t> requested_{0};
  std::atomic<uint64_t> nanoseconds_{0};
  std::atomic<uint64_t> lost_{0};  // as of the last touch
  std::atomic<uint64_t> last_{0};  // when that was
};

}  // namespace halo::runtime
