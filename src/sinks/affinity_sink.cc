// Beginning and result of the affinity sink.
#include "sinks/affinity_sink.h"

#include <numeric>

namespace halo::sinks {

void AffinitySink::begin(const Parameters& parameters) {
  distance_ = parameters.affinity_distance;
  for (AffinityQueue& queue : queues_) queue.clear();
  accesses_.assign(accesses_.size(), 0);
  edges_.clear();
  bursts_ = 0;
}

AffinityGraph AffinitySink::finish() const {
  return {.accesses = accesses_,
          .edges = edges_.edges(),
          .total_accesses = std::accumulate(accesses_.begin(), accesses_.end(), uint64_t{0}),
          .bursts = bursts_,
          .edge_error = bursts_ == 0 ? 0 : edges_.relative_error()};
}

}  // namespace halo::sinks
