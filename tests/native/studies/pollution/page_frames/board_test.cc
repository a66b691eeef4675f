#include "studies/pollution/page_frames/board.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace halo::frames {
namespace {

// The content, as another process finds it; nullptr: none.
const BoardContent* find_board() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find(std::string("/memfd:") + kBoardName) != std::string::npos)
      return reinterpret_cast<const BoardContent*>(std::stoull(line, nullptr, 16));
  return nullptr;
}

TEST(Board, OthersFindTheRangesByItsName) {
  Board board;
  ASSERT_TRUE(board.open({1, 2, 4}));
  ASSERT_TRUE(board.add(4096, 8192));
  ASSERT_TRUE(board.add(65536, 131072));
  const BoardContent* const content = find_board();
  ASSERT_NE(content, nullptr);
  EXPECT_EQ(content->magic, BoardContent::kMagic);
  EXPECT_EQ(content->process, static_cast<uint32_t>(getpid()));
  EXPECT_EQ(content->total, 4u);
  EXPECT_EQ(content->range[1].begin, 65536u);
  EXPECT_EQ(content->range[1].end, 131072u);
  board.remove(4096);
  EXPECT_EQ(content->range[0].begin, 0u);
  board.close();
  EXPECT_EQ(find_board(), nullptr);
}

TEST(Board, HasRoomForAFixedNumber) {
  Board board;
  ASSERT_TRUE(board.open({1, 2, 4}));
  for (size_t at = 1; at <= BoardContent::kMaxRanges; ++at)
    ASSERT_TRUE(board.add(at * 4096, at * 4096 + 1));
  EXPECT_FALSE(board.add(1, 2));
  board.remove(4096);
  EXPECT_TRUE(board.add(1, 2));
  board.close();
}

}  // namespace
}  // namespace halo::frames
