// The rows of the code addresses that walks have met.
#pragma once

#include <atomic>
#include <cstdint>

#include "recorder/native/walk/row.h"

namespace halo::native {

// Any thread, also in a signal handler, may call it; it takes no lock and no memory.
//
// Entries are claimed and filled once: an empty one, or one of an earlier generation, is marked
// busy by compare-and-swap; then the row is written, and then the key (release). A key is the code
// address and, above bit 47, the generation. Readers load the key (acquire) before and after the
// row, as an entry may be claimed again meanwhile.
class CodeRows {
 public:
  // The row of the code at that address (call_frames.h).
  Row find(uint64_t code) {
    const uint64_t key = key_of(code);
    for (uint64_t probe = 0; probe < kProbes; ++probe) {
      Entry& entry = entries_[(hash(code) + probe) % kEntries];
      const uint64_t found = entry.key.load(std::memory_order_acquire);
      if (found == key) [[likely]] {
        const Row row = entry.row.load(std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_acquire);
        if (entry.key.load(std::memory_order_relaxed) == key) [[likely]]
          return row;
      }
      if (found == 0) break;
    }
    return look_up(code);
  }

  // An address in a module in which no code was looked up before; 0 if there is none.
  uint64_t take_unknown() {
    if (unknown_.load(std::memory_order_relaxed) == 0) [[likely]]
      return 0;
    return unknown_.exchange(0, std::memory_order_relaxed);
  }

  // Code was unmapped: other code may take its place.
  void forget() {
    for (std::atomic<uint64_t>& module : modules_) module.store(0, std::memory_order_relaxed);
    generation_.fetch_add(1, std::memory_order_acq_rel);
  }
  // Differs after forget().
  uint64_t generation() const { return generation_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint64_t kEntries = 1 << 15, kProbes = 8, kBusy = 1, kModules = 1024;
  static constexpr int kGenerationShift = 48;

  struct Entry {
    std::atomic<uint64_t> key{0};
    std::atomic<Row> row{};
  };

  static uint64_t hash(uint64_t code) { return code * 0x9E3779B97F4A7C15 >> 40; }
  uint64_t key_of(uint64_t code) const {
    return code | generation_.load(std::memory_order_relaxed) << kGenerationShift;
  }
  Row look_up(uint64_t code);

  bool is_new(uint64_t module);

  std::atomic<uint64_t> generation_{1};
  std::atomic<uint64_t> unknown_{0};
  std::atomic<uint64_t> modules_[kModules] = {};  // the begins of those in which code was looked up
  Entry entries_[kEntries];
};

}  // namespace halo::native
