// Orders of objects as text.
#include "studies/layouts/order_file.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "studies/layouts/communities.h"

namespace halo::layout {
namespace {

// Of two contexts in turn; each third number is in no trace.
TEST(OrderFile, NumbersTheAllocationsOfEachContextThatAreInTheTrace) {
  FactsReader reader(1);
  for (uint64_t number = 1; number <= 8; ++number) {
    if (number % 3 == 0) continue;
    reader.allocate({number, number * 64, uint32_t(8 * number), base::ContextId{number % 2 == 0}});
    reader.access(base::ThreadId{0}, number, 0, 8, false);
  }
  const Communities communities = find_communities(reader.take_graph());
  const std::vector<uint32_t> hubs;
  const Subject subject{reader.facts(), reader.numbers(), communities, hubs};
  char* text = nullptr;
  size_t size = 0;
  FILE* const file = open_memstream(&text, &size);
  write_order(allocation_order(subject), subject, file);
  fclose(file);
  EXPECT_EQ(std::string(text, size),
            "context ordinal size\n0 0 8\n1 0 16\n1 1 32\n0 1 40\n0 2 56\n1 2 64\n");
  free(text);
}

}  // namespace
}  // namespace halo::layout
