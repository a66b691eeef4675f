// The number of free pages that may stay in memory before some are purged.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace halo::runtime {

// A program that stays small has most of its free pages purged. If a program takes purged
// memory again within a short time, each cycle costs page faults. So it may keep as much as it took
// again. Other allocators purge after a delay; the runtime has no thread that could.
//
// Any thread may call any member. All accesses are relaxed: concurrent calls may lose counts, which
// changes the limit by a few pages.
class PurgeLimit {
 public:
  // The limit in pages, with `used` pages in use.
  uint64_t pages(uint64_t used) const {
    return kAtLeast + used / kShare + extra_.load(std::memory_order_relaxed);
  }

  // A heap took a page that is not in memory.
  void count_acquired() { acquired_.fetch_add(1, std::memory_order_relaxed); }
  void count_purged(uint64_t pages) { purged_.fetch_add(pages, std::memory_order_relaxed); }

  // The limit is exceeded. `now`: milliseconds of a monotonic clock.
  void exceed(uint64_t now) {
    const uint64_t last = last_.exchange(now, std::memory_order_relaxed);
    const uint64_t taken = acquired_.exchange(0, std::memory_order_relaxed);
    if (taken == 0) return;  // purging continues
    const uint64_t again = std::min(taken, purged_.exchange(0, std::memory_order_relaxed));
    const uint64_t extra = extra_.load(std::memory_order_relaxed);
    extra_.store(now - last < kReuseInterval ? std::min(extra + again, kMaxExtra) : extra / 2,
                 std::memory_order_relaxed);
  }

 private:
  static constexpr uint64_t kAtLeast = 32;
  static constexpr uint64_t kShare = 16;
  static constexpr uint64_t kReuseInterval = 50;  // milliseconds
  static constexpr uint64_t kMaxExtra = 1024;     // pages: 64 MiB

  std::atomic<uint64_t> extra_{0};
  std::atomic<uint64_t> last_{0};      // time of the last call of exceed
  std::atomic<uint64_t> acquired_{0};  // since the last call of exceed
  std::atomic<uint64_t> purged_{0};    // since the last call that found acquired pages
};

}  // namespace halo::runtime
