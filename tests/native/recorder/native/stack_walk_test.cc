// Walks find the frames that libgcc's unwinder finds.
#include "recorder/native/walk/stack_walk.h"

#include <alloca.h>
#include <execinfo.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <thread>
#include <vector>

#include "recorder/native/walk/sent_stacks.h"

namespace halo::native {
namespace {

CodeRows rows;

class Walker {
 public:
  Walker() : frames_(StackWalk::kMaxFrames), marks_(SentStacks::kPlaces) {
    walk_.begin(frames_.data(), 1);
    sent_.begin(marks_.data());
  }

  // The code that a signal has interrupted: no return address.
  void* interrupted = nullptr;

  // Walks from its caller's caller, compares, and returns the change.
  [[gnu::noinline]] StackChange probe() {
    auto* frame = static_cast<uint64_t*>(__builtin_frame_address(0));
    const size_t before = walk_.frames().size();
    const StackChange change = walk_.walk(rows, reinterpret_cast<uint64_t>(frame + 1), frame[0]);
    EXPECT_LE(change.kept, before);
    EXPECT_EQ(change.kept + change.fresh.size(), walk_.frames().size());
    void* expected[512];
    int count = backtrace(expected, 512);
    count = int(std::remove(expected, expected + count, interrupted) - expected);
    EXPECT_EQ(walk_.frames().size(), size_t(count - 1));
    for (int at = 1; at < count && size_t(at) <= walk_.frames().size(); ++at)
      EXPECT_EQ(frames_[walk_.frames().size() - size_t(at)].return_address,
                reinterpret_cast<uint64_t>(expected[at]))
          << "frame " << at;
    for (size_t at = 1; at < walk_.frames().size(); ++at)
      EXPECT_LT(frames_[at].slot, frames_[at - 1].slot);
    send(change);
    return change;
  }

  size_t sent = 0;  // frames so far

 private:
  using Calls = std::vector<std::pair<uint64_t, uint64_t>>;  // return addresses and distances

  static Calls calls_of(std::span<const Frame> frames) {
    Calls calls;
    for (size_t at = 0; at < frames.size(); ++at)
      calls.emplace_back(frames[at].return_address,
                         at == 0 ? 0 : frames[at - 1].slot - frames[at].slot);
    return calls;
  }

  // Does as a consumer does, and compares what it knows by the stack's place.
  void send(const StackChange& change) {
    Calls& known = known_[SentStacks::place_of(walk_.hash())];
    if (sent_.add(change, walk_.hash())) {
      sent += walk_.frames().size() - sent_.common();
      told_.resize(sent_.common());
      for (const Frame& frame : walk_.frames().subspan(sent_.common())) told_.push_back(frame);
      sent_.sent(told_.size());
      known = calls_of(told_);
    }
    EXPECT_EQ(known, calls_of(walk_.frames()));
  }

  std::vector<Frame> frames_;
  std::vector<uint32_t> marks_;
  StackWalk walk_;
  SentStacks sent_;
  std::vector<Frame> told_;          // the stack that was sent last
  std::map<uint64_t, Calls> known_;  // by place
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

TEST_F(WalkTest, AStackThatWasSentIsKnownByItsPlace) {
  const auto both = [] {
    nested(40);
    from_one_place();
  };
  for (int turn = 0; turn < 3; ++turn) both();
  const size_t before = walker_.sent;
  EXPECT_LT(before, 2 * 80u);
  for (int turn = 0; turn < 100; ++turn) both();
  EXPECT_LE(walker_.sent, before + 80) << "all but the first turn are the same";
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
