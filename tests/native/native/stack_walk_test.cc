// Walks find the frames that libgcc's unwinder finds.
#include "native/walk/stack_walk.h"

#include <alloca.h>
#include <execinfo.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <thread>
#include <vector>

namespace halo::native {
namespace {

CodeRows rows;

class Walker {
 public:
  Walker() : frames_(StackWalk::kMaxFrames) { walk_.begin(frames_.data()); }

  // The code that a signal has interrupted: no return address.
  void* interrupted = nullptr;

  // Walks from its caller's caller, compares, and returns the change.
  [[gnu::noinline]] StackChange probe() {
    auto* frame = static_cast<uint64_t*>(__builtin_frame_address(0));
    const size_t before = walk_.count();
    const StackChange change = walk_.walk(rows, reinterpret_cast<uint64_t>(frame + 1), frame[0]);
    EXPECT_LE(change.kept, before);
    EXPECT_EQ(change.kept + change.fresh.size(), walk_.count());
    void* expected[512];
    int count = backtrace(expected, 512);
    count = int(std::remove(expected, expected + count, interrupted) - expected);
    EXPECT_EQ(walk_.count(), size_t(count - 1));
    for (int at = 1; at < count && size_t(at) <= walk_.count(); ++at)
      EXPECT_EQ(frames_[walk_.count() - size_t(at)].return_address,
                reinterpret_cast<uint64_t>(expected[at]))
          << "frame " << at;
    for (size_t at = 1; at < walk_.count(); ++at) EXPECT_LT(frames_[at].slot, frames_[at - 1].slot);
    return change;
  }

 private:
  std::vector<Frame> frames_;
  StackWalk walk_;
};

Walker* current = nullptr;
StackChange found;

[[gnu::noinline]] void leaf() {
  found = current->probe();
  asm volatile("");
}
[[gnu::noinline]] void nested(int depth) {
  if (depth == 0) return leaf();
  nested(depth - 1);
  asm volatile("");
}
[[gnu::noinline]] void with_array(size_t bytes) {
  auto* array = static_cast<volatile char*>(alloca(bytes));
  array[0] = 1;
  leaf();
  array[bytes - 1] = 2;
}
[[gnu::noinline]] void realigned() {
  alignas(128) char buffer[256];
  asm volatile("" : : "r"(buffer) : "memory");
  leaf();
  asm volatile("" : : "r"(buffer) : "memory");
}
[[gnu::noinline]] void from_one_place() {
  leaf();
  asm volatile("");
}
[[gnu::noinline]] void from_another() {
  leaf();
  asm volatile("");
}

class WalkTest : public testing::Test {
 protected:
  WalkTest() { current = &walker_; }
  Walker walker_;
};

TEST_F(WalkTest, FramesAreThoseOfTheUnwinder) {
  leaf();
  nested(5);
  nested(100);
  nested(2);
}

TEST_F(WalkTest, StacksOfVaryingSizeAreWalked) {
  for (size_t bytes = 1; bytes < 10000; bytes += 777) with_array(bytes);
}

TEST_F(WalkTest, RealignedFramesAreWalked) {
  realigned();
  nested(3);
  realigned();
}

TEST_F(WalkTest, AnEqualStackHasNoChange) {
  for (int turn = 0; turn < 3; ++turn) {
    leaf();
    if (turn > 0) {
      EXPECT_TRUE(found.fresh.empty());
    }
  }
}

TEST_F(WalkTest, OnlyFramesThatDifferAreNew) {
  nested(50);
  from_one_place();
  const size_t kept = found.kept;
  from_another();
  EXPECT_EQ(found.kept, kept);
  EXPECT_EQ(found.fresh.size(), 3u);  // the test, its function, and that one's
}

TEST_F(WalkTest, AFrameThatWasLeftAndEnteredAgainFromElsewhereIsSeen) {
  using Call = void (*)();
  for (const Call call : {from_one_place, from_another, from_one_place}) call();
}

TEST_F(WalkTest, TheFrameOfASignalIsPassed) {
  struct sigaction action{};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = [](int, siginfo_t*, void* context) {
    const auto* registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    current->interrupted = reinterpret_cast<void*>(registers[REG_RIP]);
    leaf();
  };
  sigaction(SIGUSR1, &action, nullptr);
  raise(SIGUSR1);
  nested(3);
  raise(SIGUSR1);
  signal(SIGUSR1, SIG_DFL);
}

int compare(const void* one, const void* other) {
  leaf();
  return *static_cast<const int*>(one) - *static_cast<const int*>(other);
}

TEST_F(WalkTest, CallsFromTheCLibraryAreWalked) {
  int numbers[] = {3, 1, 2};
  qsort(numbers, 3, sizeof(int), compare);
}

TEST_F(WalkTest, ThreadsEndAtTheirFirstFunction) {
  std::thread([] { nested(4); }).join();
}

[[gnu::noinline]] void thrower(int depth) {
  if (depth == 0) throw 1;
  thrower(depth - 1);
  asm volatile("");
}

TEST_F(WalkTest, StacksAfterAnExceptionAreWalked) {
  nested(20);
  try {
    thrower(10);
  } catch (int) {
    leaf();
  }
  nested(3);
}

TEST(CodeRows, CodeOutsideOfModulesHasNone) {
  int on_stack = 0;
  EXPECT_EQ(rows.find(reinterpret_cast<uint64_t>(&on_stack)).base, Row::Base::kNoModule);
  EXPECT_EQ(rows.find(1).base, Row::Base::kNoModule);
}

TEST(CodeRows, RowsAreTheSameAfterCodeWasUnmapped) {
  const auto code = reinterpret_cast<uint64_t>(&leaf) + 1;
  const Row before = rows.find(code);
  EXPECT_EQ(before.base, Row::Base::kStack);
  rows.forget();
  EXPECT_EQ(rows.find(code).offset, before.offset);
}

}  // namespace
}  // namespace halo::native
