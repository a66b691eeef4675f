// Weights of edges, and the error from their two estimates.
#include "recorder/analysis/edge_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

namespace halo::sinks {
namespace {

using base::ContextId;

TEST(EdgeTable, PartsOfAWeightAddUp) {
  EdgeTable table;
  table.adder(ContextId{2}, 1, EdgePart::kExact)(ContextId{1});
  table.adder(ContextId{1}, 10, EdgePart::kOdd)(ContextId{2});
  table.adder(ContextId{1}, 20, EdgePart::kEven)(ContextId{2});
  const std::vector<Edge> edges = table.edges();
  ASSERT_EQ(edges.size(), 1u);
  EXPECT_EQ(edges[0].weight, 31u);
}

TEST(EdgeTable, WhatIsExactHasNoError) {
  EdgeTable table;
  table.adder(ContextId{1}, 100, EdgePart::kExact)(ContextId{2});
  EXPECT_EQ(table.relative_error(), 0);
}

TEST(EdgeTable, TheErrorIsByHowMuchTheEstimatesDiffer) {
  EdgeTable table;
  table.adder(ContextId{1}, 60, EdgePart::kOdd)(ContextId{2});
  table.adder(ContextId{1}, 40, EdgePart::kEven)(ContextId{2});
  EXPECT_DOUBLE_EQ(table.relative_error(), 0.2);
  table.adder(ContextId{3}, 100, EdgePart::kExact)(ContextId{4});
  EXPECT_DOUBLE_EQ(table.relative_error(), 0.1);
}

TEST(EdgeTable, EdgesAreTheSameWithinRowsAndOutside) {
  const uint32_t last = EdgeTable::kInRows - 1;
  EdgeTable table;
  for (const uint32_t a : {0u, last, last + 1, last + 1000}) {
    for (const uint32_t b : {0u, last, last + 1, last + 1000}) {
      table.adder(ContextId{a}, 1, EdgePart::kExact)(ContextId{b});
    }
  }
  const std::vector<Edge> edges = table.edges();
  ASSERT_EQ(edges.size(), 10u);
  for (const Edge& edge : edges) EXPECT_EQ(edge.weight, edge.a == edge.b ? 1u : 2u);
  EXPECT_TRUE(std::is_sorted(edges.begin(), edges.end(), [](const Edge& x, const Edge& y) {
    return std::tie(x.a, x.b) < std::tie(y.a, y.b);
  }));
  table.clear();
  EXPECT_TRUE(table.edges().empty());
}

TEST(EdgeTable, ManyPairsOutsideOfRowsAreKept) {
  EdgeTable table;
  for (uint32_t at = 0; at < 5000; ++at)
    table.adder(ContextId{at}, at + 1, EdgePart::kOdd)(ContextId{EdgeTable::kInRows + at});
  const std::vector<Edge> edges = table.edges();
  ASSERT_EQ(edges.size(), 5000u);
  for (uint32_t at = 0; at < 5000; ++at) EXPECT_EQ(edges[at].weight, at + 1);
}

TEST(EdgeTable, AnEmptyTableHasNoError) { EXPECT_EQ(EdgeTable().relative_error(), 0); }

}  // namespace
}  // namespace halo::sinks
