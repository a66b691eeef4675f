#include "studies/pollution/page_frames/broker.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "compaction.h"
#include "server.h"

namespace halo::frames {
namespace {

constexpr ColourRange kColours = {32, 64, 256};

// The kernel may compact memory, and thereby move pages to other frames, at any time.
constexpr size_t nearly(size_t pages) { return pages * 9 / 10; }

class Memory {
 public:
  explicit Memory(size_t pages) : pages_(pages) {
    at_ = static_cast<unsigned char*>(mmap(nullptr, pages * kPageBytes, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    madvise(at_, pages * kPageBytes, MADV_NOHUGEPAGE);
  }
  ~Memory() { munmap(at_, pages_ * kPageBytes); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  static unsigned char value(size_t page) { return static_cast<unsigned char>(1 + page % 251); }
  void write() {
    for (size_t page = 0; page < pages_; ++page)
      std::fill_n(at_ + page * kPageBytes, kPageBytes, value(page));
  }
  bool is_intact() const {
    for (size_t page = 0; page < pages_; ++page)
      if (std::any_of(at_ + page * kPageBytes, at_ + (page + 1) * kPageBytes,
                      [&](unsigned char byte) { return byte != value(page); }))
        return false;
    return true;
  }
  bool is_zero() const {
    return std::all_of(at_, at_ + pages_ * kPageBytes,
                       [](unsigned char byte) { return byte == 0; });
  }
  unsigned char* operator[](size_t page) const { return at_ + page * kPageBytes; }
  uintptr_t begin() const { return reinterpret_cast<uintptr_t>(at_); }
  uintptr_t end() const { return begin() + pages_ * kPageBytes; }
  // An eighth of the colours that few pages have: fresh memory may have frames that an earlier test
  // returned, which are of one eighth.
  ColourRange rare_colours() const {
    ColourRange rarest{};
    for (uint32_t low = 0; low < 256; low += 32)
      if (const ColourRange one = {low, low + 32, 256};
          low == 0 || coloured(one) < coloured(rarest))
        rarest = one;
    return rarest;
  }
  std::vector<uint64_t> frames() const {
    std::vector<uint64_t> found(pages_);
    FrameNumbers numbers;
    EXPECT_TRUE(numbers.open());
    EXPECT_TRUE(numbers.read(begin(), pages_, found.data()));
    return found;
  }
  // Present pages whose frames have the colours.
  size_t coloured(const ColourRange& colours = kColours) const {
    const std::vector<uint64_t> found = frames();
    return static_cast<size_t>(std::count_if(found.begin(), found.end(), [&](uint64_t frame) {
      return frame != FrameNumbers::kAbsent && colours.contains(frame);
    }));
  }

 private:
  size_t pages_;
  unsigned char* at_;
};

// Without the privileges or the kernel that a broker needs, nothing is left to test.
class BrokerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (server.refusal != traps::Refusal::kNone) GTEST_SKIP() << traps::text_of(server.refusal);
    if (probe_frames() != Refusal::kNone) GTEST_SKIP() << text_of(probe_frames());
    server.run_in_server([this](traps::Traps& traps) {
      broker.emplace(kColours, traps);
      opened = broker->open();
    });
    ASSERT_EQ(opened, Refusal::kNone);
  }
  void TearDown() override {
    if (broker) server.run_in_server([this](traps::Traps&) { broker->close(); });
  }
  // Replaces the broker by one of these colours.
  void use(const ColourRange& colours) {
    server.run_in_server([&](traps::Traps& traps) {
      broker->close();
      broker.emplace(colours, traps);
      opened = broker->open();
    });
    ASSERT_EQ(opened, Refusal::kNone);
  }
  Coloured colour(const Memory& memory, bool fills) {
    Coloured found;
    server.run_in_server(
        [&](traps::Traps&) { found = broker->colour(memory.begin(), memory.end(), fills); });
    return found;
  }

  std::optional<traps::FramesLock> frames_stay{std::in_place, true};
  traps::Server server;
  std::optional<Broker> broker;
  Refusal opened = Refusal::kNone;
};

TEST_F(BrokerTest, AbsentPagesAreFilledWithZeroPagesOfTheColours) {
  constexpr size_t kPages = 700;
  const Memory memory(kPages);
  const Coloured found = colour(memory, true);
  EXPECT_EQ(found.filled, kPages);
  EXPECT_EQ(found.failed, 0u);
  EXPECT_GE(memory.coloured(), nearly(kPages));
  EXPECT_TRUE(memory.is_zero());
}

TEST_F(BrokerTest, ColoursTakeTurns) {
  const Memory memory(64);
  colour(memory, true);
  std::multiset<uint32_t> colours;
  for (const uint64_t frame : memory.frames()) colours.insert(kColours.colour_of(frame));
  for (uint32_t one = kColours.low; one < kColours.high; ++one)
    EXPECT_NEAR(double(colours.count(one)), 2, 2) << one;
  EXPECT_GE(std::set<uint32_t>(colours.begin(), colours.end()).size(), 24u);
}

TEST_F(BrokerTest, PresentPagesKeepTheirContentAndAbsentOnesStayAbsent) {
  constexpr size_t kPages = 600;
  Memory memory(kPages);
  memory.write();
  madvise(memory[100], 3 * kPageBytes, MADV_DONTNEED);
  const Coloured found = colour(memory, false);
  EXPECT_EQ(found.replaced + found.kept, kPages - 3);
  EXPECT_EQ(found.filled + found.failed, 0u);
  EXPECT_GE(memory.coloured(), nearly(kPages - 3));
  for (size_t page = 100; page < 103; ++page) {
    EXPECT_EQ(memory.frames()[page], FrameNumbers::kAbsent);
    std::fill_n(memory[page], kPageBytes, Memory::value(page));
  }
  EXPECT_TRUE(memory.is_intact());
}

TEST_F(BrokerTest, RightPagesKeepTheirFrames) {
  Memory memory(300);
  colour(memory, true);
  const std::vector<uint64_t> before = memory.frames();
  const Coloured again = colour(memory, true);
  EXPECT_GE(again.kept, nearly(300));
  const std::vector<uint64_t> after = memory.frames();
  size_t same = 0;
  for (size_t page = 0; page < 300; ++page) same += before[page] == after[page];
  EXPECT_GE(same, nearly(300));
}

TEST_F(BrokerTest, ArmedPagesAreColouredWithTheirContent) {
  Memory memory(50);
  memory.write();
  for (size_t page = 0; page < 50; page += 7) ASSERT_TRUE(server.arm(memory[page]));
  EXPECT_EQ(colour(memory, false).failed, 0u);
  EXPECT_GE(memory.coloured(), nearly(50u));
  EXPECT_TRUE(memory.is_intact());
}

TEST_F(BrokerTest, ThreadsThatReadAndWriteMeanwhileSeeTheContent) {
  constexpr size_t kPages = 512;
  Memory memory(kPages);
  memory.write();
  std::atomic<bool> ends{false};
  std::atomic<size_t> wrong{0};
  std::thread other([&] {
    while (!ends)
      for (size_t page = 0; page < kPages; ++page) {
        volatile unsigned char* at = memory[page];
        if (at[17] != Memory::value(page)) ++wrong;
        at[18] = Memory::value(page);
      }
  });
  for (uint32_t low = 0; low < 256; low += 32) {
    Coloured found;
    server.run_in_server([&](traps::Traps& traps) {
      Broker one({low, low + 32, 256}, traps);
      if (one.open() == Refusal::kNone) found = one.colour(memory.begin(), memory.end(), false);
      one.close();
    });
    EXPECT_GE(found.replaced + found.kept, nearly(kPages));
    EXPECT_GE(memory.coloured({low, low + 32, 256}), nearly(kPages));
  }
  ends = true;
  other.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_TRUE(memory.is_intact());
}

TEST_F(BrokerTest, PagesThatTheKernelMigratesKeepTheirContent) {
  frames_stay.reset();
  const traps::Compaction compaction;
  if (!compaction.is_possible()) GTEST_SKIP() << "compaction cannot be started";
  size_t wrong = 0;
  std::vector<std::unique_ptr<Memory>> kept;
  for (uint32_t round = 0; round < 12; ++round) {
    kept.push_back(std::make_unique<Memory>(1024));
    Memory& memory = *kept.back();
    memory.write();
    for (uint32_t low = 0; low < 96; low += 32) {
      use({low, low + 32, 256});
      colour(memory, false);
    }
    wrong += !memory.is_intact();
  }
  EXPECT_EQ(wrong, 0u);
}

TEST_F(BrokerTest, ChildrenThatAreForkedMeanwhileReadTheContent) {
  Memory memory(512);
  memory.write();
  std::atomic<bool> ends{false};
  std::thread other([&] {
    for (uint32_t round = 0; !ends; ++round) {
      const uint32_t low = round % 8 * 32;
      server.run_in_server([&](traps::Traps& traps) {
        Broker one({low, low + 32, 256}, traps);
        if (one.open() == Refusal::kNone) one.colour(memory.begin(), memory.end(), false);
        one.close();
      });
    }
  });
  for (int round = 0; round < 40; ++round) {
    const pid_t child = fork();
    if (child == 0) _exit(memory.is_intact() ? 0 : 1);
    int status = -1;
    waitpid(child, &status, 0);
    ASSERT_EQ(status, 0) << round;
  }
  ends = true;
  other.join();
  EXPECT_TRUE(memory.is_intact());
}

TEST_F(BrokerTest, PagesThatALivingChildSharesStayAsTheyAre) {
  Memory memory(20);
  memory.write();
  use(memory.rare_colours());
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    char byte = 0;
    _exit(read(ends[0], &byte, 1) == 1 && memory.is_intact() ? 0 : 1);
  }
  const Coloured found = colour(memory, false);
  EXPECT_GT(found.failed, 0u);
  EXPECT_TRUE(memory.is_intact());
  ASSERT_EQ(write(ends[1], "x", 1), 1);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  close(ends[0]);
  close(ends[1]);
}

TEST_F(BrokerTest, ReadyFramesAreUsedFirst) {
  Memory memory(256);
  memory.write();
  server.run_in_server([this](traps::Traps&) { broker->prepare(256); });
  EXPECT_EQ(broker->ready(), 256u);
  const uint64_t populated = broker->populated();
  EXPECT_EQ(colour(memory, false).failed, 0u);
  EXPECT_EQ(broker->populated(), populated);
}

TEST_F(BrokerTest, AJobHasPartsBetweenWhichItMayBeCancelled) {
  Memory memory(600);
  memory.write();
  const ColourRange colours = memory.rare_colours();
  use(colours);
  Broker::Job job = {.at = memory.begin(), .end = memory.end()};
  const auto step = [&] {
    bool done = false;
    server.run_in_server([&](traps::Traps&) { done = broker->step(job); });
    return done;
  };
  EXPECT_FALSE(step());
  EXPECT_FALSE(step());
  server.run_in_server([this](traps::Traps&) { broker->cancel(); });
  EXPECT_EQ(broker->ready(), 0u);
  EXPECT_TRUE(memory.is_intact());
  int steps = 1;
  while (!step()) ++steps;
  EXPECT_GT(steps, 4);
  EXPECT_EQ(job.result.replaced + job.result.kept, 600u);
  EXPECT_GE(memory.coloured(colours), nearly(600u));
  EXPECT_TRUE(memory.is_intact());
}

TEST_F(BrokerTest, WithoutMemoryPagesStayOpen) {
  Memory memory(300);
  memory.write();
  use(memory.rare_colours());
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  const rlimit none{0, before.rlim_max};
  Coloured found;
  server.run_in_server([&](traps::Traps&) {
    setrlimit(RLIMIT_AS, &none);
    found = broker->colour(memory.begin(), memory.end(), false);
    setrlimit(RLIMIT_AS, &before);
  });
  EXPECT_GT(found.failed, 200u);
  EXPECT_EQ(found.refusal, Refusal::kNoMemory);
  EXPECT_TRUE(memory.is_intact());
  EXPECT_EQ(colour(memory, false).failed, 0u) << "afterwards there is memory";
}

// One colour of 4096 is in one page of 16 MiB.
TEST_F(BrokerTest, FramesRunOut) {
  const Memory memory(600);
  Coloured found;
  server.run_in_server([&](traps::Traps& traps) {
    Broker one({7, 8, 4096}, traps);
    if (one.open() == Refusal::kNone) found = one.colour(memory.begin(), memory.end(), true);
    one.close();
  });
  EXPECT_EQ(found.refusal, Refusal::kExhausted);
  EXPECT_LT(found.filled, 100u);
  EXPECT_EQ(found.filled + found.failed, 600u);
}

}  // namespace
}  // namespace halo::frames
