// Runs every access of the program through caches of many sizes at once: misses of the heap and of
// all other memory (Yardımcı and Kaeli, figure 1).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

#include "recorder/analysis/sink.h"
#include "simulator/cache_sweep.h"

namespace halo::sinks {

struct SweptCache {
  uint64_t bytes;
  uint32_t ways;
  uint64_t heap;     // accesses to tracked objects that miss
  uint64_t outside;  // all other accesses that miss
};

struct SweepResult {
  uint64_t heap = 0;               // accesses
  uint64_t outside = 0;            // accesses
  std::vector<SweptCache> caches;  // empty unless asked for; by size, then by ways
};

class SweepSink : public Sink {
 public:
  using Result = SweepResult;
  using Sink::on_event;
  using Sink::Sink;

  struct Options {
    uint32_t sweep = 0;  // 1: simulate
  };
  static constexpr auto options() { return std::tuple{NumberOption{"sweep", &Options::sweep, 1u}}; }
  static bool needs_all_accesses(const Options& options) { return options.sweep != 0; }

  void begin(const Options& options) {
    caches_ = options.sweep != 0 ? std::make_unique<Caches>() : nullptr;
    accesses_ = {};
    newest_.assign(newest_.size(), kOutside);
  }
  Result finish() const;

  void on_event(const MemoryEvent& event) {
    if (caches_ == nullptr) return;  // another sink asked for all accesses
    const size_t kind = event.object == nullptr ? kOutside : kHeap;
    if (base::index(event.thread) >= newest_.size()) newest_.resize(base::index(event.thread) + 1);
    newest_[base::index(event.thread)] = uint8_t(kind);
    ++accesses_[kind];
    caches_->access(event.address, event.size, kind);
  }
  void on_event(const MemoryRepeatEvent& event) {
    if (caches_ != nullptr) accesses_[newest_[base::index(event.thread)]] += event.count;
  }

  static void write(const Result& result, Part& part);

 private:
  static constexpr size_t kOutside = 0, kHeap = 1, kKinds = 2;
  using Caches = simulator::CacheSweep<kKinds>;

  std::unique_ptr<Caches> caches_;  // null unless asked for
  std::array<uint64_t, kKinds> accesses_{};
  std::vector<uint8_t> newest_;  // by thread: the kind of the latest access
};

}  // namespace halo::sinks
