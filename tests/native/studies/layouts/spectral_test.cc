// Spectral orders against shuffled paths and ladders, and against exact minimum linear arrangement.
#include "studies/layouts/spectral.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "graphs.h"

namespace halo::layout {
namespace {

std::vector<uint32_t> shuffled(uint32_t count, uint64_t seed) {
  std::vector<uint32_t> labels(count);
  std::iota(labels.begin(), labels.end(), 0);
  std::mt19937_64 random(seed);
  for (uint32_t left = count; left > 1; --left)
    std::swap(labels[left - 1], labels[random() % left]);
  return labels;
}

// The order by label, from the end with the smaller label on.
std::vector<uint32_t> either_way(std::vector<uint32_t> order) {
  if (order.front() > order.back()) std::reverse(order.begin(), order.end());
  return order;
}

uint64_t cost(const Graph& graph, const std::vector<uint32_t>& order) {
  std::vector<int64_t> place(order.size());
  for (size_t at = 0; at < order.size(); ++at) place[order[at]] = int64_t(at);
  uint64_t sum = 0;
  for (uint32_t vertex = 0; vertex < order.size(); ++vertex)
    for (const Graph::Edge& edge : graph.row(vertex))
      sum += edge.weight * uint64_t(std::abs(place[vertex] - place[edge.to]));
  return sum / 2;
}

TEST(SpectralOrder, PutsAShuffledPathBackInOrder) {
  for (const uint32_t count : {3u, 10u, 48u, 49u, 200u, 1000u, 5000u}) {
    const std::vector<uint32_t> labels = shuffled(count, count);
    EdgeList edges;
    for (uint32_t at = 1; at < count; ++at) edges.emplace_back(labels[at - 1], labels[at], 3);
    EXPECT_EQ(spectral_order(graph_of(count, edges)), either_way(labels)) << count;
  }
}

TEST(SpectralOrder, PutsAShuffledLadderBackInOrder) {
  for (const uint32_t rungs : {20u, 300u, 2000u}) {
    const std::vector<uint32_t> labels = shuffled(2 * rungs, rungs);
    EdgeList edges;
    for (uint32_t rung = 0; rung < rungs; ++rung) {
      edges.emplace_back(labels[2 * rung], labels[2 * rung + 1], 2);
      if (rung == 0) continue;
      edges.emplace_back(labels[2 * rung - 2], labels[2 * rung], 2);
      edges.emplace_back(labels[2 * rung - 1], labels[2 * rung + 1], 2);
    }
    const std::vector<uint32_t> order = spectral_order(graph_of(2 * rungs, edges));
    std::vector<uint32_t> rung_of(2 * rungs);
    for (uint32_t at = 0; at < 2 * rungs; ++at) rung_of[labels[at]] = at / 2;
    const bool reversed = rung_of[order.front()] > rung_of[order.back()];
    for (uint32_t at = 0; at < 2 * rungs; ++at) {
      const uint32_t expected = reversed ? rungs - 1 - at / 2 : at / 2;
      ASSERT_EQ(rung_of[order[at]], expected) << rungs;
    }
  }
}

TEST(SpectralOrder, IsNearTheMinimumLinearArrangement) {
  double ratios = 0;
  constexpr int kGraphs = 200;
  for (int seed = 0; seed < kGraphs; ++seed) {
    std::mt19937_64 random{uint64_t(seed)};
    const auto count = uint32_t(5 + random() % 4);
    EdgeList edges;
    for (uint32_t at = 1; at < count; ++at)
      edges.emplace_back(random() % at, at, 1 + uint32_t(random() % 9));
    for (int more = 0; more < 4; ++more) {
      const auto a = uint32_t(random() % count), b = uint32_t(random() % count);
      if (a != b) edges.emplace_back(a, b, 1 + uint32_t(random() % 9));
    }
    const Graph graph = graph_of(count, edges);
    std::vector<uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    uint64_t least = UINT64_MAX;
    do least = std::min(least, cost(graph, order));
    while (std::next_permutation(order.begin(), order.end()));
    ratios += double(cost(graph, spectral_order(graph))) / double(least);
  }
  EXPECT_LE(ratios / kGraphs, 1.3);
}

TEST(SpectralOrder, OfAStarPutsItsHeaviestLeavesNextToTheHub) {
  for (const uint32_t leaves : {30u, 49u, 5000u}) {
    EdgeList equal, heavy;
    for (uint32_t leaf = 1; leaf <= leaves; ++leaf) {
      equal.emplace_back(0, leaf, 1);
      heavy.emplace_back(0, leaf, leaf == leaves / 2 ? 1000 : 1);
    }
    for (const EdgeList& edges : {equal, heavy}) {
      std::vector<uint32_t> order = spectral_order(graph_of(leaves + 1, edges));
      const auto place = [&](uint32_t vertex) {
        return std::find(order.begin(), order.end(), vertex) - order.begin();
      };
      const bool weighted = edges != equal;
      if (weighted) {
        EXPECT_LE(std::abs(place(0) - place(leaves / 2)), 2) << leaves;
      }
      std::sort(order.begin(), order.end());
      for (uint32_t at = 0; at <= leaves; ++at) ASSERT_EQ(order[at], at);
    }
  }
}

TEST(SpectralOrder, KeepsComponentsApart) {
  const Graph graph =
      graph_of(9, {{0, 5, 1}, {5, 2, 1}, {1, 3, 1}, {4, 8, 1}, {8, 6, 1}, {4, 6, 9}});
  const std::vector<uint32_t> order = spectral_order(graph);
  EXPECT_EQ((std::vector<uint32_t>{order.begin(), order.begin() + 5}),
            (std::vector<uint32_t>{0, 5, 2, 1, 3}));
  EXPECT_EQ(order.back(), 7u);
}

TEST(FiedlerVector, IsAnEigenvectorOfTheSecondSmallestEigenvalue) {
  // A path of n vertices has the eigenvalue 2 - 2 cos(pi / n), and a known vector.
  for (const uint32_t count : {30u, 500u}) {
    EdgeList edges;
    for (uint32_t at = 1; at < count; ++at) edges.emplace_back(at - 1, at, 1);
    const std::vector<double> found = fiedler_vector(graph_of(count, edges));
    double product = 0, length = 0;
    for (uint32_t at = 0; at < count; ++at) {
      const double expected = std::cos(M_PI * (at + 0.5) / count);
      product += expected * found[at];
      length += expected * expected;
    }
    EXPECT_GE(std::abs(product) / std::sqrt(length), 0.9999) << count;
  }
}

}  // namespace
}  // namespace halo::layout
