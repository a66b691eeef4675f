// The shadow stack corrects itself, and keeps each of several stacks.
#include "recorder/contexts/shadow_stack.h"

#include <gtest/gtest.h>

namespace halo::record {
namespace {

// Two mappings: 1 MiB each, at 1 and 8 MiB.
AddressRange mapping(uint64_t address) {
  return address >= 0x800000 ? AddressRange{0x800000, 0x900000} : AddressRange{0x100000, 0x200000};
}

std::vector<uint64_t> returns(ShadowStack& stack) {
  std::vector<uint64_t> result;
  for (const ShadowFrame& frame : stack.frames()) result.push_back(frame.return_address);
  return result;
}

using Addresses = std::vector<uint64_t>;

TEST(ShadowStack, CallsAndReturns) {
  ShadowStack stack(mapping);
  stack.call(0x1FF000, 1);
  stack.call(0x1FEF00, 2);
  stack.call(0x1FEE00, 3);
  stack.ret(0x1FEE00);
  EXPECT_EQ(returns(stack), (Addresses{1, 2}));
  stack.call(0x1FEE00, 4);
  EXPECT_EQ(returns(stack), (Addresses{1, 2, 4}));
}

TEST(ShadowStack, ALongjmpIsRepairedByTheNextCall) {
  ShadowStack stack(mapping);
  stack.call(0x1FF000, 1);
  stack.call(0x1FEF00, 2);
  stack.call(0x1FEE00, 3);
  stack.stack_pointer_loaded();
  stack.call(0x1FEF80, 9);  // from the frame of 1, deeper than its own slot
  EXPECT_EQ(returns(stack), (Addresses{1, 9}));
}

TEST(ShadowStack, ACallAtTheSameSlotReplaces) {
  ShadowStack stack(mapping);
  stack.call(0x1FF000, 1);
  stack.call(0x1FF000, 2);
  EXPECT_EQ(returns(stack), (Addresses{2}));
}

TEST(ShadowStack, AStackMayGrow) {
  uint64_t begin = 0x1F0000;
  ShadowStack stack([&](uint64_t) { return AddressRange{begin, 0x200000}; });
  stack.call(0x1F1000, 1);
  begin = 0x100000;
  stack.call(0x1EFF00, 2);  // below the mapping's start when it was first seen
  EXPECT_EQ(returns(stack), (Addresses{1, 2}));
  EXPECT_EQ(stack.stacks(), 2u);  // including the initial empty one
}

TEST(ShadowStack, AnotherMappingIsAnotherStack) {
  ShadowStack stack(mapping);
  stack.call(0x8FF000, 1);
  stack.call(0x8FE000, 2);
  stack.call(0x1FF000, 7);  // a signal handler on its own stack
  EXPECT_EQ(returns(stack), (Addresses{7}));
  stack.ret(0x1FF000);
  stack.call(0x8FD000, 3);
  EXPECT_EQ(returns(stack), (Addresses{1, 2, 3}));
}

TEST(ShadowStack, CoroutinesInOneMappingKeepTheirFrames) {
  ShadowStack stack(mapping);
  stack.call(0x1F0000, 1);
  stack.stack_pointer_loaded();
  stack.call(0x150000, 2);  // far below: a new stack
  stack.stack_pointer_loaded();
  stack.call(0x1EFF00, 3);
  EXPECT_EQ(returns(stack), (Addresses{1, 3}));
  stack.stack_pointer_loaded();
  stack.call(0x14FF00, 4);
  EXPECT_EQ(returns(stack), (Addresses{2, 4}));
  EXPECT_EQ(stack.stacks(), 3u);
}

TEST(ShadowStack, AFrameIsInsertedWhereItsSlotLies) {
  ShadowStack stack(mapping);
  stack.call(0x1FF000, 1);
  stack.call(0x1FEE00, 3);
  stack.frames()[1].node = 7;
  stack.insert(0x1FEF00, 2);
  stack.insert(0x1FEF00, 2);  // known now
  stack.insert(0x1FED00, 4);
  EXPECT_EQ(returns(stack), (Addresses{1, 2, 3, 4}));
  EXPECT_EQ(stack.frames()[2].node, ShadowFrame::kUnresolved) << "it has another stack outside";
  stack.ret(0x1FEF00);
  EXPECT_EQ(returns(stack), (Addresses{1}));
}

TEST(ShadowStack, ALargeFrameIsNotAnotherStack) {
  ShadowStack stack(mapping);
  stack.call(0x1F0000, 1);
  stack.call(0x120000, 2);
  EXPECT_EQ(returns(stack), (Addresses{1, 2}));
}

}  // namespace
}  // namespace halo::record
