// pagerank: rank flows over the edges of a power-law graph, after Miucin, section 3.5.
#include <bit>
#include <cinttypes>
#include <cmath>
#include <cstdio>

#include "common/args.h"
#include "common/checksum.h"
#include "common/phase.h"
#include "pagerank/graph.h"

namespace {

constexpr float kRandomReset = 0.15f;
constexpr float kTolerance = 1e-8f;

void distribute(const pagerank::Node& node) {
  if (node.out_edges.empty()) {
    return;
  }
  const float share = node.rank / static_cast<float>(node.out_edges.size());
  for (pagerank::Edge* edge : node.out_edges) {
    edge->weight = share;
  }
}

// Returns whether the rank of the node has changed.
bool update(pagerank::Node& node) {
  float sum = 0;
  for (const pagerank::Edge* edge : node.in_edges) {
    sum += edge->weight;
  }
  const float rank = kRandomReset + (1 - kRandomReset) * sum;
  const bool changed = std::fabs(node.rank - rank) > kTolerance;
  node.rank = rank;
  distribute(node);
  return changed;
}

// Returns how many rounds it took until no rank changed, at most `limit`. Not inlined: it is a
// phase for `halo study layout --phase`.
[[gnu::noinline]] long iterate(const pagerank::Graph& graph, long limit) {
  const Phase phase("traversal");
  for (const auto& node : graph.nodes()) {
    distribute(*node);
  }
  for (long round = 1; round <= limit; ++round) {
    bool changed = false;
    for (const auto& node : graph.nodes()) {
      changed |= update(*node);
    }
    if (!changed) {
      return round;
    }
  }
  return limit;
}

}  // namespace

int main(int argc, char** argv) {
  Argument arguments[] = {{"nodes", 1, 100000000, 0},
                          {"edges", 0, 1000000000, 0},
                          {"rounds", 0, 1000, 0},
                          {"seed", 0, 1 << 30, 0}};
  read_arguments(argc, argv, arguments, 4);
  const auto nodes = static_cast<pagerank::NodeId>(arguments[0].value);
  const auto links = static_cast<uint32_t>(arguments[1].value);
  const auto seed = static_cast<uint64_t>(arguments[3].value);

  const pagerank::Graph graph(nodes, pagerank::generate_links(nodes, links, seed));
  const long rounds = iterate(graph, arguments[2].value);
  double total = 0;
  uint64_t checksum = 0;
  for (const auto& node : graph.nodes()) {
    total += node->rank;
    checksum = checksum_add(checksum, std::bit_cast<uint32_t>(node->rank));
  }
  std::printf("pagerank: total rank %.4f after %ld rounds\nchecksum %016" PRIx64 "\n", total,
              rounds, checksum);
  return 0;
}
