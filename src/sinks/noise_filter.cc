// The noise filter over a finished affinity graph.
#include "sinks/noise_filter.h"

#include <algorithm>
#include <numeric>

namespace halo::sinks {

AffinityGraph keep_hot_contexts(const AffinityGraph& graph, double share) {
  std::vector<uint32_t> order(graph.accesses.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return graph.accesses[a] > graph.accesses[b]; });

  AffinityGraph result;
  result.accesses.assign(graph.accesses.size(), 0);
  const double wanted = share * double(graph.total_accesses);
  for (uint32_t context : order) {
    if (double(result.total_accesses) >= wanted || graph.accesses[context] == 0) break;
    result.accesses[context] = graph.accesses[context];
    result.total_accesses += graph.accesses[context];
  }
  for (const Edge& edge : graph.edges) {
    const bool kept =
        result.accesses[base::index(edge.a)] != 0 && result.accesses[base::index(edge.b)] != 0;
    if (kept) result.edges.push_back(edge);
  }
  return result;
}

}  // namespace halo::sinks
