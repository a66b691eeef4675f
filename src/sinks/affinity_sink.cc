// Beginning and result of the affinity sink.
#include "sinks/affinity_sink.h"

#include <numeric>

namespace halo::sinks {

void AffinitySink::begin(const Parameters& parameters) {
  distance_ = parameters.affinity_distance;
  for (AffinityQueue& queue : queues_) queue.clear();
  accesses_.assign(accesses_.size(), 0);
  edges_.clear();
}

AffinityGraph AffinitySink::finish() const {
  return {accesses_, edges_.edges(),
          std::accumulate(accesses_.begin(), accesses_.end(), uint64_t{0})};
}

}  // namespace halo::sinks
