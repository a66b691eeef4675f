// How many free pages may stay in memory before some are given back to the system.
//
// A program that stays small has most of them given back. One that frees and takes the same memory
// again within a moment would pay for that with page faults: it may keep what it took again. (As
// other allocators wait before they purge; here nobody would come back later to do it.)
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace halo::runtime {

// Any thread may call anything. Threads that call at once may lose counts: a few pages more or less
// are kept.
class PurgeLimit {
 public:
  // Pages; of so many in use.
  std::uint64_t pages(std::uint64_t used) const {
    return at_least + used / share + extra_.load(std::memory_order_relaxed);
  }

  // A page was taken that is not in memory.
  void note_taken() { taken_.fetch_add(1, std::memory_order_relaxed); }
  void note_given_back(std::uint64_t pages) {
    given_back_.fetch_add(pages, std::memory_order_relaxed);
  }

  // The limit is exceeded. `now`: milliseconds of a clock that does not go back.
  void exceed(std::uint64_t now) {
    const std::uint64_t last = last_.exchange(now, std::memory_order_relaxed);
    const std::uint64_t taken = taken_.exchange(0, std::memory_order_relaxed);
    if (taken == 0) return;  // it goes on shrinking
    const std::uint64_t again = std::min(taken, given_back_.exchange(0, std::memory_order_relaxed));
    const std::uint64_t extra = extra_.load(std::memory_order_relaxed);
    extra_.store(now - last < moment ? std::min(extra + again, most_extra) : extra / 2,
                 std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint64_t at_least = 32;
  static constexpr std::uint64_t share = 16;
  static constexpr std::uint64_t moment = 50;        // milliseconds
  static constexpr std::uint64_t most_extra = 1024;  // pages: 64 MiB

  std::atomic<std::uint64_t> extra_{0};
  std::atomic<std::uint64_t> last_{0};        // time that it was exceeded
  std::atomic<std::uint64_t> taken_{0};       // since
  std::atomic<std::uint64_t> given_back_{0};  // since pages were taken before
};

}  // namespace halo::runtime
