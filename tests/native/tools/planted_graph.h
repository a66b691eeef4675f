// Graphs with known communities, and how much of them is found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "studies/layouts/access_graph.h"

namespace halo::layout {

struct PlantedGraph {
  Graph graph;
  std::vector<uint32_t> communities;  // by vertex
};

// How a graph is planted. Communities have 1/2 to 3/2 of `members` vertices, which are spread over
// all vertex numbers. `inside` is the share of edges between members of one community.
struct Planting {
  uint32_t vertices;
  size_t edges;
  uint32_t members;
  double inside = 0.85;
  uint64_t seed = 1;
};

// A random graph of this many edges; those that are drawn twice have the sum of their weights.
PlantedGraph plant(const Planting& planting);

// Normalised mutual information of two partitions: 1 if they are equal, about 0 if they are
// independent (Danon et al., J. Stat. Mech. 2005, P09008).
double mutual_information(std::span<const uint32_t> a, std::span<const uint32_t> b);

}  // namespace halo::layout
