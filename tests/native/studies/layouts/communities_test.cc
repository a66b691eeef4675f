// Communities: planted ones are found, and modularity does not fall short of the best known.
#include "studies/layouts/communities.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "graphs.h"
#include "tools/planted_graph.h"

namespace halo::layout {
namespace {

// Zachary's karate club (Journal of Anthropological Research 33, 1977), from vertex 1 on.
const std::vector<std::pair<uint32_t, uint32_t>> kClub = {
    {2, 1},   {3, 1},   {3, 2},   {4, 1},   {4, 2},   {4, 3},   {5, 1},   {6, 1},   {7, 1},
    {7, 5},   {7, 6},   {8, 1},   {8, 2},   {8, 3},   {8, 4},   {9, 1},   {9, 3},   {10, 3},
    {11, 1},  {11, 5},  {11, 6},  {12, 1},  {13, 1},  {13, 4},  {14, 1},  {14, 2},  {14, 3},
    {14, 4},  {17, 6},  {17, 7},  {18, 1},  {18, 2},  {20, 1},  {20, 2},  {22, 1},  {22, 2},
    {26, 24}, {26, 25}, {28, 3},  {28, 24}, {28, 25}, {29, 3},  {30, 24}, {30, 27}, {31, 2},
    {31, 9},  {32, 1},  {32, 25}, {32, 26}, {32, 29}, {33, 3},  {33, 9},  {33, 15}, {33, 16},
    {33, 19}, {33, 21}, {33, 23}, {33, 24}, {33, 30}, {33, 31}, {33, 32}, {34, 9},  {34, 10},
    {34, 14}, {34, 15}, {34, 16}, {34, 19}, {34, 20}, {34, 21}, {34, 23}, {34, 24}, {34, 27},
    {34, 28}, {34, 29}, {34, 30}, {34, 31}, {34, 32}, {34, 33}};

std::vector<uint32_t> coarsest(const Communities& found) {
  std::vector<uint32_t> communities(found.graphs.front().vertices());
  for (uint32_t vertex = 0; vertex < communities.size(); ++vertex)
    communities[vertex] = found.at_level(vertex, found.parents.size());
  return communities;
}

TEST(Communities, OfTheKarateClubHaveTheKnownModularity) {
  EdgeList edges;
  for (const auto& [a, b] : kClub) edges.emplace_back(a - 1, b - 1, 1);
  const Graph graph = graph_of(34, edges);
  const Communities found = find_communities(graph);
  // The maximum is 0.4198 (Brandes et al., IEEE TKDE 20, 2008).
  EXPECT_GE(modularity(graph, coarsest(found)), 0.415);
}

TEST(Communities, PlantedOnesAreFound) {
  const PlantedGraph planted = plant({.vertices = 20'000, .edges = 110'000, .members = 60});
  const Communities found = find_communities(planted.graph);
  EXPECT_GE(mutual_information(found.parents.front(), planted.communities), 0.95);
  // Coarser ones are expected: modularity does not resolve small communities of large graphs.
  EXPECT_GE(modularity(planted.graph, coarsest(found)),
            modularity(planted.graph, planted.communities));
}

TEST(Communities, AreTheSameAgain) {
  const PlantedGraph planted = plant({.vertices = 5000, .edges = 30'000, .members = 40});
  EXPECT_EQ(find_communities(planted.graph).parents, find_communities(planted.graph).parents);
}

TEST(MutualInformation, IsOneForEqualPartitionsAndNoneForIndependentOnes) {
  const std::vector<uint32_t> halves = {0, 0, 0, 0, 1, 1, 1, 1}, renamed = {7, 7, 7, 7, 3, 3, 3, 3};
  const std::vector<uint32_t> parities = {0, 1, 0, 1, 0, 1, 0, 1}, pairs = {0, 0, 1, 1, 2, 2, 3, 3};
  EXPECT_DOUBLE_EQ(mutual_information(halves, renamed), 1);
  EXPECT_NEAR(mutual_information(halves, parities), 0, 1e-12);
  EXPECT_DOUBLE_EQ(mutual_information(halves, pairs), 2.0 / 3) << "1 bit of 1 and 2 bits";
}

TEST(Communities, NestAndAddUp) {
  std::mt19937_64 random(2);
  EdgeList edges;
  for (int edge = 0; edge < 4000; ++edge) {
    const auto a = uint32_t(random() % 1000);
    edges.emplace_back(a, (a + 1 + uint32_t(random() % 8)) % 1000, 1 + uint32_t(random() % 5));
  }
  const Graph graph = graph_of(1000, edges);
  const Communities found = find_communities(graph);
  ASSERT_EQ(found.graphs.size(), found.parents.size() + 1);
  double before = -1;
  for (size_t level = 0; level <= found.parents.size(); ++level) {
    std::vector<uint32_t> communities(1000);
    for (uint32_t vertex = 0; vertex < 1000; ++vertex)
      communities[vertex] = found.at_level(vertex, level);
    const double here = modularity(graph, communities);
    EXPECT_GT(here, before);
    before = here;
  }
}

TEST(Communities, OfAGraphWithoutEdgesAreItsVertices) {
  const Communities found = find_communities(graph_of(5, {}));
  EXPECT_TRUE(found.parents.empty());
  EXPECT_EQ(found.graphs.size(), 1u);
}

}  // namespace
}  // namespace halo::layout
