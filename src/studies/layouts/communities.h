// Hierarchical communities of a graph (Blondel et al., J. Stat. Mech. 2008, P10008).
#pragma once

#include <cstdint>
#include <vector>

#include "studies/layouts/access_graph.h"

namespace halo::layout {

// The levels of communities, the finest first. `graphs[0]` is the given graph, and the vertices of
// `graphs[k + 1]` are communities of those of `graphs[k]`: `parents[k]` has the community of each,
// numbered by their smallest vertex. There is one graph more than lists of parents.
struct Communities {
  std::vector<Graph> graphs;
  std::vector<std::vector<uint32_t>> parents;

  // The community at level `level` of a vertex of graphs[0]; level 0 is the vertex itself.
  uint32_t at_level(uint32_t vertex, size_t level) const {
    for (size_t k = 0; k < level; ++k) vertex = parents[k][vertex];
    return vertex;
  }
};

// Moves each vertex, in ascending order, to the neighbouring community of the greatest gain in
// modularity, the smaller one if two are equal, until a pass gains less than 10^-6. Then fuses
// communities and repeats, until nothing moves. Resolution 1.
Communities find_communities(Graph graph);

// The modularity of a partition of the graph's vertices.
double modularity(const Graph& graph, const std::vector<uint32_t>& communities);

}  // namespace halo::layout
