// Weights of edges, and what their two estimates say of them.
#include "sinks/edge_table.h"

#include <gtest/gtest.h>

namespace halo::sinks {
namespace {

using base::ContextId;

TEST(EdgeTable, PartsOfAWeightAddUp) {
  EdgeTable table;
  table.increment(ContextId{2}, ContextId{1});
  table.increment(ContextId{1}, ContextId{2}, 10, EdgePart::kOdd);
  table.increment(ContextId{1}, ContextId{2}, 20, EdgePart::kEven);
  const std::vector<Edge> edges = table.edges();
  ASSERT_EQ(edges.size(), 1u);
  EXPECT_EQ(edges[0].weight, 31u);
}

TEST(EdgeTable, WhatIsExactHasNoError) {
  EdgeTable table;
  table.increment(ContextId{1}, ContextId{2}, 100, EdgePart::kExact);
  EXPECT_EQ(table.relative_error(), 0);
}

TEST(EdgeTable, TheErrorIsByHowMuchTheEstimatesDiffer) {
  EdgeTable table;
  table.increment(ContextId{1}, ContextId{2}, 60, EdgePart::kOdd);
  table.increment(ContextId{1}, ContextId{2}, 40, EdgePart::kEven);
  EXPECT_DOUBLE_EQ(table.relative_error(), 0.2);
  table.increment(ContextId{3}, ContextId{4}, 100, EdgePart::kExact);
  EXPECT_DOUBLE_EQ(table.relative_error(), 0.1);
}

TEST(EdgeTable, AnEmptyTableHasNoError) { EXPECT_EQ(EdgeTable().relative_error(), 0); }

}  // namespace
}  // namespace halo::sinks
