// Generates the list of links and builds the graph from it.
#include "pagerank/graph.h"

#include <numeric>
#include <utility>

#include "common/rng.h"

namespace pagerank {

std::vector<Link> generate_links(NodeId nodes, uint32_t links, uint64_t seed) {
  Rng rng{seed};
  std::vector<NodeId> by_popularity(nodes);
  std::iota(by_popularity.begin(), by_popularity.end(), 0u);
  for (NodeId left = nodes; left > 1; --left) {
    std::swap(by_popularity[left - 1], by_popularity[rng_below(&rng, left)]);
  }
  std::vector<Link> list;
  for (uint32_t i = 0; i < links; ++i) {
    const NodeId source = rng_below(&rng, nodes);
    // The cube of a uniform variable makes in-degree a power law of the place in popularity.
    const double unit = rng_unit(&rng);
    const auto place = static_cast<NodeId>(unit * unit * unit * nodes);
    list.push_back({source, by_popularity[place]});
  }
  return list;
}

Graph::Graph(NodeId nodes, const std::vector<Link>& links) {
  for (NodeId id = 0; id < nodes; ++id) {
    const Place place(id);
    nodes_.push_back(make<Node>(Node{id, 1.0f, {}, {}}));
  }
  for (const Link& link : links) {
    const Place place(link.target);
    auto edge = make<Edge>(Edge{link.source, link.target, 0.0f});
    nodes_[link.source]->out_edges.push_back(edge.get());
    nodes_[link.target]->in_edges.push_back(edge.get());
    edges_.push_back(std::move(edge));
  }
}

}  // namespace pagerank
