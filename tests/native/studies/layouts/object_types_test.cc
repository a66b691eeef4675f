// The text with the types of objects, and the order by type.
#include "studies/layouts/object_types.h"

#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "studies/layouts/communities.h"
#include "studies/layouts/object_facts.h"
#include "studies/layouts/orders.h"

namespace halo::layout {
namespace {

ObjectTypes read(const std::string& text) {
  const std::string path = testing::TempDir() + "halo-object-types";
  std::ofstream(path) << text;
  return read_types(path);
}

TEST(ObjectTypes, AreReadByNumber) {
  const ObjectTypes found = read("1 2 1\n3 1 0\n");
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[1].type, 2u);
  EXPECT_TRUE(found[1].in_graph);
  EXPECT_EQ(found[2].type, 0u);
  EXPECT_EQ(found[3].type, 1u);
  EXPECT_FALSE(found[3].in_graph);
  EXPECT_TRUE(read("").empty());
}

TEST(ObjectTypes, OfAnotherFileAreRefused) {
  for (const char* text : {"x", "1 2 2\n", "3 1 1\n1 1 1\n", "99999999999 1 1\n"})
    EXPECT_THROW(read(text), std::runtime_error) << text;
  EXPECT_THROW(read_types("/nonexistent/types"), std::runtime_error);
}

TEST(ObjectTypes, GiveAnOrderByType) {
  FactsReader reader(1, {}, {{}, {2, true}, {1, true}, {2, true}, {1, true}});
  for (uint64_t number = 1; number <= 5; ++number)
    reader.allocate({number, number * 64, 24, base::ContextId{0}});
  const Communities communities = find_communities(reader.take_graph());
  const std::vector<uint32_t> hubs;
  const Subject subject{reader.facts(), reader.numbers(), communities, hubs};
  EXPECT_EQ(by_type(subject), (Order{5, 2, 4, 1, 3}));
}

}  // namespace
}  // namespace halo::layout
