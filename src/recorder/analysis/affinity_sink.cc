// Start, result and sections of the affinity sink.
#include "recorder/analysis/affinity_sink.h"

#include <algorithm>
#include <numeric>

namespace halo::sinks {

void AffinitySink::begin(const Options& options) {
  distance_ = options.distance;
  for (Thread& thread : threads_) thread.queue.clear();
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

void AffinitySink::write_parameters(const Options& options, Part& part) {
  part.field("affinity_distance", options.distance);
}

void AffinitySink::write_context(const Result& graph, base::ContextId context, Part& part) {
  part.field("accesses", accesses_of(graph, context));
}

void AffinitySink::write_totals(const Result& graph, Part& part) {
  part.field("accesses", graph.total_accesses);
}

void AffinitySink::write(const Result& graph, Part& part) {
  part.list("edges", graph.edges, [&](const Edge& edge) {
    const auto [a, b] = std::minmax({part.index_of(edge.a), part.index_of(edge.b)});
    part.row(a, b, edge.weight);
  });
  if (graph.bursts == 0) return;
  part.field("sampling", [&] {
    part.field("bursts", graph.bursts);
    part.field("edge_error", graph.edge_error, 4);
  });
}

}  // namespace halo::sinks
