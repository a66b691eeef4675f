// Graphs for tests of src/studies/layouts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "studies/layouts/access_graph.h"

namespace halo::layout {

using EdgeList = std::vector<std::tuple<uint32_t, uint32_t, uint32_t>>;

inline Graph graph_of(size_t vertices, const EdgeList& edges) {
  std::map<uint64_t, uint32_t> weights;
  for (const auto& [a, b, weight] : edges)
    weights[uint64_t{std::min(a, b)} << 32 | std::max(a, b)] += weight;
  std::vector<WeightedPair> pairs;
  for (const auto& [pair, weight] : weights)
    pairs.push_back({uint32_t(pair >> 32), uint32_t(pair), weight});
  return make_graph(vertices, pairs);
}

}  // namespace halo::layout
