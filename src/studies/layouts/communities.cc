// Moves vertices between communities, and fuses communities.
#include "studies/layouts/communities.h"

#include <algorithm>
#include <utility>

namespace halo::layout {

namespace {

constexpr double kMinGain = 1e-6;  // of modularity, by a pass
constexpr uint32_t kNone = UINT32_MAX;

// One level: vertices with weights of their own, the self-loops that fusing makes.
class Level {
 public:
  Level(const Graph& graph, const std::vector<double>& loops)
      : graph_(graph),
        degree_(loops),
        community_(graph.vertices()),
        total_(graph.vertices()),
        link_(graph.vertices()) {
    for (uint32_t vertex = 0; vertex < graph.vertices(); ++vertex) {
      community_[vertex] = vertex;
      for (const Graph::Edge& edge : graph.row(vertex)) degree_[vertex] += edge.weight;
      total_[vertex] = degree_[vertex];
      all_ += degree_[vertex];
    }
  }

  // Returns whether any vertex has moved.
  bool move_all() {
    if (all_ == 0) return false;
    bool moved = false;
    for (;;) {
      double gain = 0;
      for (uint32_t vertex = 0; vertex < graph_.vertices(); ++vertex) gain += move(vertex);
      moved |= gain > 0;
      if (gain < kMinGain) return moved;
    }
  }

  // By vertex, numbered by the smallest vertex of each.
  std::vector<uint32_t> communities() const {
    std::vector<uint32_t> number(graph_.vertices(), kNone), found(graph_.vertices());
    uint32_t count = 0;
    for (uint32_t vertex = 0; vertex < graph_.vertices(); ++vertex) {
      uint32_t& mine = number[community_[vertex]];
      if (mine == kNone) mine = count++;
      found[vertex] = mine;
    }
    return found;
  }

 private:
  // Returns the gain in modularity.
  double move(uint32_t vertex) {
    const uint32_t old = community_[vertex];
    neighbours_.clear();
    link_[old] = 0;
    neighbours_.push_back(old);
    for (const Graph::Edge& edge : graph_.row(vertex)) {
      const uint32_t community = community_[edge.to];
      if (link_[community] == 0 && community != old) neighbours_.push_back(community);
      link_[community] += edge.weight;
    }
    total_[old] -= degree_[vertex];
    const double mine = value(vertex, old);
    double best = mine;
    uint32_t chosen = old;
    for (const uint32_t community : neighbours_) {
      const double here = value(vertex, community);
      if (here > best || (here == best && chosen != old && community < chosen)) {
        best = here;
        chosen = community;
      }
    }
    for (const uint32_t community : neighbours_) link_[community] = 0;
    total_[chosen] += degree_[vertex];
    community_[vertex] = chosen;
    return 2 * (best - mine) / all_;
  }

  // What the vertex adds to the modularity of the community, times half of all weight.
  double value(uint32_t vertex, uint32_t community) const {
    return link_[community] - total_[community] * degree_[vertex] / all_;
  }

  const Graph& graph_;
  std::vector<double> degree_;  // with self-loops
  std::vector<uint32_t> community_;
  std::vector<double> total_;  // of degrees, by community
  std::vector<double> link_;   // by community: weight of the vertex's edges to it
  std::vector<uint32_t> neighbours_;
  double all_ = 0;  // twice the weight of all edges
};

struct Fused {
  Graph graph;
  std::vector<double> loops;
};

Fused fuse(const Graph& graph, const std::vector<double>& loops,
           const std::vector<uint32_t>& parents) {
  const uint32_t count = *std::max_element(parents.begin(), parents.end()) + 1;
  Fused fused{{}, std::vector<double>(count)};
  std::vector<std::vector<uint32_t>> members(count);
  for (uint32_t vertex = 0; vertex < parents.size(); ++vertex)
    members[parents[vertex]].push_back(vertex);
  std::vector<uint64_t> weight(count);
  std::vector<uint32_t> touched;
  fused.graph.begin.assign(1, 0);
  for (uint32_t community = 0; community < count; ++community) {
    touched.clear();
    for (const uint32_t vertex : members[community]) {
      fused.loops[community] += loops[vertex];
      for (const Graph::Edge& edge : graph.row(vertex)) {
        const uint32_t other = parents[edge.to];
        if (other == community) {
          fused.loops[community] += edge.weight;
          continue;
        }
        if (weight[other] == 0) touched.push_back(other);
        weight[other] += edge.weight;
      }
    }
    std::sort(touched.begin(), touched.end());
    for (const uint32_t other : touched) {
      fused.graph.edges.push_back({other, uint32_t(std::min<uint64_t>(weight[other], UINT32_MAX))});
      weight[other] = 0;
    }
    fused.graph.begin.push_back(fused.graph.edges.size());
  }
  return fused;
}

}  // namespace

Communities find_communities(Graph graph) {
  Communities found;
  found.graphs.push_back(std::move(graph));
  std::vector<double> loops(found.graphs.back().vertices());
  for (;;) {
    const Graph& last = found.graphs.back();
    Level level(last, loops);
    if (!level.move_all()) return found;
    found.parents.push_back(level.communities());
    Fused fused = fuse(last, loops, found.parents.back());
    loops = std::move(fused.loops);
    found.graphs.push_back(std::move(fused.graph));
  }
}

double modularity(const Graph& graph, const std::vector<uint32_t>& communities) {
  double all = 0, inside = 0;
  std::vector<double> total(graph.vertices());
  for (uint32_t vertex = 0; vertex < graph.vertices(); ++vertex)
    for (const Graph::Edge& edge : graph.row(vertex)) {
      all += edge.weight;
      total[communities[vertex]] += edge.weight;
      if (communities[vertex] == communities[edge.to]) inside += edge.weight;
    }
  if (all == 0) return 0;
  double expected = 0;
  for (const double one : total) expected += one / all * (one / all);
  return inside / all - expected;
}

}  // namespace halo::layout
