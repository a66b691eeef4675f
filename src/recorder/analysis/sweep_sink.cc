// The result of the sweep, and its section of the profile.
#include "recorder/analysis/sweep_sink.h"

namespace halo::sinks {

SweepResult SweepSink::finish() const {
  if (caches_ == nullptr) return {};
  SweepResult result{accesses_[kHeap], accesses_[kOutside], {}};
  for (uint64_t bytes = Caches::kMinBytes; bytes <= Caches::kMaxBytes; bytes *= 2) {
    for (const uint32_t ways : Caches::kWays) {
      result.caches.push_back({bytes, ways, caches_->misses(bytes, ways, kHeap),
                               caches_->misses(bytes, ways, kOutside)});
    }
  }
  return result;
}

void SweepSink::write(const Result& result, Part& part) {
  if (result.caches.empty()) return;
  part.field("cache_sweep", [&] {
    part.fields("line", simulator::CacheSweep<kKinds>::kLine, "heap", result.heap, "outside",
                result.outside);
    part.list("caches", result.caches, [&](const SweptCache& cache) {
      part.row(cache.bytes, cache.ways, cache.heap, cache.outside);
    });
  });
}

}  // namespace halo::sinks
