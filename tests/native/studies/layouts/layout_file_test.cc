// The layout file has every accessed object once, with the communities of each level.
#include "studies/layouts/layout_file.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <set>
#include <span>
#include <vector>

#include "base/crc32.h"
#include "studies/layouts/layout_format.h"

namespace halo::layout {
namespace {

// Objects in triples that are used together; each fourth number is in no trace.
class LayoutFileTest : public testing::Test {
 protected:
  LayoutFileTest() : reader_(1) {
    for (uint64_t number = 1; number <= 40; ++number)
      if (number % 4 != 0) reader_.allocate({number, number * 64, 32, base::ContextId{1}});
    for (int round = 0; round < 5; ++round)
      for (uint64_t number = 1; number <= 40; ++number)
        if (number % 4 != 0) reader_.access(base::ThreadId{0}, number, 0, 8, false);
    communities_ = find_communities(reader_.take_graph());
  }

  std::vector<uint32_t> written() {
    FILE* const file = tmpfile();
    write_layout({reader_.facts(), reader_.numbers(), communities_, hubs_}, file);
    std::vector<uint32_t> words(size_t(ftell(file)) / sizeof(uint32_t));
    rewind(file);
    EXPECT_EQ(fread(words.data(), sizeof(uint32_t), words.size(), file), words.size());
    fclose(file);
    return words;
  }

  FactsReader reader_;
  Communities communities_;
  std::vector<uint32_t> hubs_;
};

TEST_F(LayoutFileTest, HasTheCommunitiesOfEachAccessedObject) {
  const std::vector<uint32_t> words = written();
  LayoutHead head;
  std::memcpy(&head, words.data(), sizeof head);
  EXPECT_EQ(head.version, kLayoutVersion);
  ASSERT_EQ(head.objects, 30u);
  ASSERT_EQ(head.levels, communities_.parents.size());
  const std::span<const uint32_t> columns =
      std::span(words).subspan(sizeof head / sizeof(uint32_t));
  ASSERT_EQ(columns.size(), (1 + head.levels) * head.objects);
  std::set<uint32_t> seen;
  for (uint32_t at = 0; at < head.objects; ++at) {
    const uint32_t number = columns[at];
    EXPECT_NE(number % 4, 0u);
    EXPECT_TRUE(seen.insert(number).second);
    const uint32_t vertex = reader_.facts()[number].vertex;
    for (uint32_t level = 1; level <= head.levels; ++level)
      EXPECT_EQ(columns[level * head.objects + at], communities_.at_level(vertex, level));
  }
  const uint32_t counts[] = {head.levels, head.objects};
  EXPECT_EQ(head.check,
            base::crc32(std::as_bytes(columns), base::crc32(std::as_bytes(std::span(counts)))));
}

TEST_F(LayoutFileTest, ObjectsThatAreNotInTheTraceHaveNoPlace) {
  EXPECT_EQ(reader_.objects(), 30u);
  EXPECT_EQ(allocation_order({reader_.facts(), reader_.numbers(), communities_, hubs_}).size(),
            30u);
}

}  // namespace
}  // namespace halo::layout
