// The allocator's accesses go with the block.
#include "recorder/objects/allocator_accesses.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace halo::objects {
namespace {

using base::ContextId;
using base::ThreadId;

struct Events : Visitor {
  std::vector<std::string> lines;

  template <class... Words>
  void add(const Words&... words) {
    std::ostringstream line;
    ((line << ' ' << words), ...);
    lines.push_back(line.str().substr(1));
  }
  void allocate(const Allocation& one) { add("allocate", one.number); }
  void free(uint64_t number) { add("free", number); }
  void access(ThreadId, uint64_t number, uint32_t offset, uint32_t, bool) {
    add("object", number, offset);
  }
  void access_outside(ThreadId, uint64_t address, uint32_t, bool) { add("outside", address); }
  void access_block(ThreadId, uint64_t number, int64_t offset, uint32_t, bool) {
    add("block", number, offset);
  }
  void repeat(ThreadId, uint64_t count) { add("repeat", count); }
};

class AllocatorAccessesTest : public testing::Test {
 protected:
  void allocate(uint64_t number, uint64_t address, uint32_t size) {
    accesses_.allocate({number, address, size, ContextId{0}});
  }
  void outside(uint64_t address) { accesses_.access_outside(ThreadId{0}, address, 8, true); }
  const std::vector<std::string>& events() {
    accesses_.finish();
    return events_.lines;
  }

  Events events_;
  AllocatorAccesses<Events> accesses_{events_};
};

using Lines = std::vector<std::string>;

TEST_F(AllocatorAccessesTest, HeadersBeforeAnAllocationFollowIt) {
  outside(500);
  outside(1000 - 8);   // its header
  outside(1000 + 24);  // the next one's
  outside(1000 + 40);  // behind that
  outside(1000 - 17);  // before its header
  allocate(1, 1000, 24);
  EXPECT_EQ(events(), (Lines{"outside 500", "allocate 1", "block 1 -8", "block 1 24",
                             "outside 1040", "outside 983"}));
}

TEST_F(AllocatorAccessesTest, LinksInAFreedBlockAreItsOwnUntilItIsReused) {
  allocate(1, 1000, 24);
  accesses_.access(ThreadId{0}, 1, 4, 4, false);
  accesses_.repeat(ThreadId{0}, 2);
  accesses_.free(1);
  outside(1008);
  allocate(2, 1000, 16);
  outside(992);
  EXPECT_EQ(events(), (Lines{"allocate 1", "object 1 4", "repeat 2", "free 1", "block 1 8",
                             "allocate 2", "outside 992"}));
}

TEST_F(AllocatorAccessesTest, EarlierAndLaterAccessesAreThePrograms) {
  outside(1000);
  for (int at = 0; at < 512; ++at) outside(0);
  allocate(1, 1000, 24);
  accesses_.free(1);
  for (int at = 0; at < 512; ++at) outside(0);
  outside(1000);
  const Lines& found = events();
  EXPECT_EQ(found.front(), "outside 1000");
  EXPECT_EQ(found.back(), "outside 1000");
  EXPECT_EQ(found.size(), 1028u);
}

}  // namespace
}  // namespace halo::objects
