// Access graphs against an obvious reference.
#include "studies/layouts/access_graph.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "graphs.h"
#include "studies/layouts/object_facts.h"

namespace halo::layout {
namespace {

using base::ThreadId;

// Pairs of an access with those of the `window` objects before it by the same thread that differ
// from it; accesses to one object in a row are one.
class Reference {
 public:
  explicit Reference(size_t window) : window_(window) {}

  void access(uint32_t thread, uint64_t object) {
    std::vector<uint64_t>& mine = history_[thread];
    if (!mine.empty() && mine.back() == object) return;
    for (size_t back = 1; back <= window_ && back <= mine.size(); ++back) {
      const uint64_t other = mine[mine.size() - back];
      if (other != object) ++weights[{std::min(object, other), std::max(object, other)}];
    }
    mine.push_back(object);
  }

  std::map<std::pair<uint64_t, uint64_t>, uint32_t> weights;

 private:
  size_t window_;
  std::map<uint32_t, std::vector<uint64_t>> history_;
};

TEST(AccessGraph, EqualsTheReference) {
  for (size_t window = 1; window <= 7; ++window) {
    FactsReader reader(window);
    Reference reference(window);
    std::mt19937_64 random(window);
    std::vector<uint64_t> live;
    uint64_t newest = 0;
    for (int event = 0; event < 20'000; ++event) {
      if (live.size() < 50) {  // a freed object's address is used again, its number is not
        live.push_back(++newest);
        reader.allocate({newest, random() % 50 * 64, 24, base::ContextId{0}});
      }
      const auto thread = uint32_t(random() % 3);
      uint64_t& number = live[random() % live.size()];
      reader.access(ThreadId{thread}, number, 0, 8, false);
      reference.access(thread, number);
      if (random() % 8 != 0) continue;
      reader.free(number);
      number = live.back();
      live.pop_back();
    }
    const std::vector<uint64_t> numbers = reader.numbers();
    const Graph graph = reader.take_graph();
    size_t edges = 0;
    for (uint32_t vertex = 0; vertex < graph.vertices(); ++vertex) {
      uint32_t before = 0;
      for (const Graph::Edge& edge : graph.row(vertex)) {
        EXPECT_TRUE(before == 0 || before <= edge.to) << "rows are sorted";
        before = edge.to + 1;
        const uint64_t a = numbers[vertex], b = numbers[edge.to];
        ASSERT_EQ(edge.weight, (reference.weights[{std::min(a, b), std::max(a, b)}]));
        ++edges;
      }
    }
    EXPECT_EQ(edges, 2 * reference.weights.size());
  }
}

TEST(AccessGraph, OfAPhaseHasItsPairsOnly) {
  FactsReader reader(1, {2, 4});
  for (uint64_t number = 1; number <= 3; ++number)
    reader.allocate({number, number * 64, 24, base::ContextId{0}});
  // Accesses 0 to 5; the second is outside objects.
  reader.access(ThreadId{0}, 1, 0, 8, false);
  reader.access_outside(ThreadId{0}, 4096, 8, false);
  for (const uint64_t number : {2, 1, 3, 1}) reader.access(ThreadId{0}, number, 0, 8, false);
  const std::vector<uint64_t> numbers = reader.numbers();
  EXPECT_EQ(numbers, (std::vector<uint64_t>{1, 2, 3})) << "by first access of the whole run";
  const Graph graph = reader.take_graph();
  ASSERT_EQ(graph.row(0).size(), 2u);
  EXPECT_EQ(graph.row(0)[0].weight, 2u);
  EXPECT_EQ(graph.row(0)[1].weight, 1u);
}

TEST(AccessGraph, SkipsObjectsThatAreNotToBeInIt) {
  FactsReader reader(1, {}, {{}, {1, true}, {2, false}, {1, true}});
  for (uint64_t number = 1; number <= 3; ++number)
    reader.allocate({number, number * 64, 24, base::ContextId{0}});
  for (const uint64_t number : {1, 2, 3, 2, 2, 1}) reader.access(ThreadId{0}, number, 0, 8, false);
  EXPECT_EQ(reader.numbers(), (std::vector<uint64_t>{1, 2, 3})) << "they are placed, too";
  const Graph graph = reader.take_graph();
  EXPECT_TRUE(graph.row(1).empty());
  ASSERT_EQ(graph.row(0).size(), 1u);
  EXPECT_EQ(graph.row(0)[0].to, 2u);
  EXPECT_EQ(graph.row(0)[0].weight, 2u) << "accesses to others do not come between";
}

TEST(AccessGraph, HubsAreThoseWithMoreThanAHundredthOfTheWeight) {
  EdgeList edges;
  for (uint32_t at = 1; at < 2000; ++at) {
    edges.emplace_back(at, at % 1999 + 1, 10);
    edges.emplace_back(0, at, 1);
  }
  const Graph graph = graph_of(2000, edges);
  EXPECT_EQ(find_hubs(graph), std::vector<uint32_t>{0});
  const Graph rest = without(graph, find_hubs(graph));
  EXPECT_TRUE(rest.row(0).empty());
  EXPECT_EQ(rest.edges.size(), 2u * 1999);
  for (uint32_t at = 1; at < 2000; ++at) ASSERT_EQ(rest.row(at).size(), 2u);
}

TEST(PairCounter, MergesRunsOfMoreThanABuffer) {
  constexpr uint32_t kVertices = 3000;
  std::map<uint64_t, uint32_t> expected;
  PairCounter counter;
  std::mt19937_64 random(1);
  for (int pair = 0; pair < 4'500'000; ++pair) {
    const auto a = uint32_t(random() % kVertices),
               b = (a + 1 + uint32_t(random() % 50)) % kVertices;
    counter.add(a, b);
    ++expected[uint64_t{std::min(a, b)} << 32 | std::max(a, b)];
  }
  const std::vector<WeightedPair> found = counter.take();
  ASSERT_EQ(found.size(), expected.size());
  auto next = expected.begin();
  for (const WeightedPair& one : found) {
    ASSERT_EQ(one.pair(), next->first);
    ASSERT_EQ(one.weight, (next++)->second);
  }
  EXPECT_EQ(counter.added(), 4'500'000u);
  EXPECT_EQ(counter.dropped(), 0u);
}

TEST(PairCounter, DropsTheLightestBeyondItsMaximum) {
  PairCounter counter(1000);
  for (int round = 0; round < 3; ++round)
    for (uint32_t a = 0; a < 500; ++a) counter.add(a, a + 1);
  for (uint32_t a = 1000; a < 2000; ++a) counter.add(a, a + 1);
  const std::vector<WeightedPair> found = counter.take();
  EXPECT_EQ(found.size(), 750u);
  EXPECT_EQ(counter.dropped(), 750u);
  for (uint32_t a = 0; a < 500; ++a) {
    ASSERT_EQ(found[a].pair(), uint64_t{a} << 32 | (a + 1));
    ASSERT_EQ(found[a].weight, 3u);
  }
}

}  // namespace
}  // namespace halo::layout
