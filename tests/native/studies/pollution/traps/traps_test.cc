#include "studies/pollution/traps/traps.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

#include "compaction.h"
#include "pages.h"
#include "server.h"

namespace halo::traps {
namespace {

int wait_for(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

// Without the privilege or the kernel that traps need, nothing is left to test.
class TrapsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (server.refusal != Refusal::kNone) GTEST_SKIP() << text_of(server.refusal);
  }
  Server server;
};

TEST_F(TrapsTest, AnAccessIsReportedOnceAndFindsTheContent) {
  const Pages pages(3);
  ASSERT_TRUE(server.arm(pages[1]));
  EXPECT_FALSE(server.arm(pages[1])) << "it is armed already";
  EXPECT_EQ(pages[0][5], Pages::value(0));
  server.settle();
  EXPECT_TRUE(server.accesses.empty());
  EXPECT_EQ(pages[1][5], Pages::value(1));
  EXPECT_EQ(pages[1][6], Pages::value(1));
  server.settle();
  EXPECT_EQ(server.accesses, std::vector<uintptr_t>{pages.address(1)});
  ASSERT_TRUE(server.arm(pages[1]));
  pages[1][7] = 9;
  EXPECT_EQ(pages[1][7], 9);
  server.settle();
  EXPECT_EQ(server.accesses.size(), 2u);
}

TEST_F(TrapsTest, ADisarmedPageIsNotReported) {
  const Pages pages(1);
  ASSERT_TRUE(server.arm(pages[0]));
  server.disarm(pages[0]);
  EXPECT_TRUE(pages.are_intact());
  server.settle();
  EXPECT_TRUE(server.accesses.empty());
}

TEST_F(TrapsTest, PagesThatWereNeverWrittenAreNotArmed) {
  void* at = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_FALSE(server.arm(at));
  EXPECT_EQ(*static_cast<char*>(at), 0);
  munmap(at, kPageBytes);
}

TEST_F(TrapsTest, ThereIsRoomForTheCapacityAndNoMore) {
  const Pages pages(65);
  for (size_t page = 0; page < 64; ++page) ASSERT_TRUE(server.arm(pages[page]));
  EXPECT_FALSE(server.arm(pages[64]));
  EXPECT_TRUE(pages.are_intact());
  server.settle();
  EXPECT_EQ(server.accesses.size(), 64u);
}

TEST_F(TrapsTest, OnlyPresentPagesOfARangeAreArmed) {
  const Pages pages(20);
  madvise(pages[5], 3 * kPageBytes, MADV_DONTNEED);
  EXPECT_EQ(pages[6][0], 0) << "the page of zeroes";
  for (int round = 0; round < 2; ++round) {
    server.run_in_server(
        [&](Traps& traps) { traps.arm_range(pages.address(0), pages.address(20)); });
    for (size_t page = 0; page < pages.count(); ++page)
      EXPECT_EQ(pages[page][1], page >= 5 && page < 8 ? 0 : Pages::value(page));
  }
  server.settle();
  EXPECT_EQ(server.accesses.size(), 2 * 17u);
}

TEST_F(TrapsTest, SystemCallsReadAndWriteArmedPages) {
  const Pages pages(2);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_TRUE(server.arm(pages[0]));
  ASSERT_EQ(write(ends[1], pages[0], kPageBytes), ssize_t{kPageBytes});
  ASSERT_TRUE(server.arm(pages[1]));
  ASSERT_EQ(read(ends[0], pages[1], kPageBytes), ssize_t{kPageBytes});
  EXPECT_EQ(std::memcmp(pages[0], pages[1], kPageBytes), 0);
  server.settle();
  EXPECT_EQ(server.accesses.size(), 2u);
  close(ends[0]);
  close(ends[1]);
}

TEST_F(TrapsTest, AllThreadsThatAccessAPageGoOn) {
  const Pages pages(1);
  for (int round = 0; round < 200; ++round) {
    ASSERT_TRUE(server.arm(pages[0]));
    std::atomic<unsigned> right = 0;
    std::vector<std::thread> threads;
    for (int number = 0; number < 4; ++number)
      threads.emplace_back([&, number] { right += pages[0][number * 64] == Pages::value(0); });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(right, 4u);
  }
  server.settle();
  EXPECT_EQ(server.accesses.size(), 200u);
}

TEST_F(TrapsTest, AChildFindsTheContentOfArmedPages) {
  const Pages pages(40);
  for (size_t page = 0; page < pages.count(); ++page) ASSERT_TRUE(server.arm(pages[page]));
  const pid_t child = fork();
  if (child == 0) {
    const pid_t grandchild = fork();
    if (grandchild == 0) _exit(pages.are_intact() ? 0 : 1);
    _exit(pages.are_intact() && wait_for(grandchild) == 0 ? 0 : 1);
  }
  EXPECT_EQ(wait_for(child), 0);
  server.settle();
  EXPECT_TRUE(server.accesses.empty()) << "the child's accesses are its own";
  EXPECT_TRUE(pages.are_intact());
}

TEST_F(TrapsTest, PagesThatAChildSharesAreNotArmed) {
  const Pages pages(1);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    char byte;
    _exit(read(ends[0], &byte, 1) == 1 ? 0 : 1);
  }
  EXPECT_FALSE(server.arm(pages[0]));
  EXPECT_EQ(write(ends[1], "x", 1), 1);
  EXPECT_EQ(wait_for(child), 0);
  close(ends[0]);
  close(ends[1]);
  EXPECT_TRUE(pages.are_intact());
}

TEST_F(TrapsTest, ThreadsMayForkWhilePagesAreArmed) {
  const Pages pages(32);
  std::atomic<unsigned> wrong = 0;
  std::vector<std::thread> threads;
  for (int number = 0; number < 2; ++number)
    threads.emplace_back([&] {
      for (int round = 0; round < 100; ++round) {
        const pid_t child = fork();
        if (child == 0) {
          if (round % 4 == 0 && fork() == 0) _exit(pages.are_intact() ? 0 : 1);
          _exit(pages.are_intact() ? 0 : 1);
        }
        wrong += wait_for(child) != 0;
      }
    });
  for (int round = 0; round < 400; ++round) {
    for (size_t page = 0; page < pages.count(); ++page) server.arm(pages[page]);
    // A write makes the page the parent's own again.
    for (size_t page = 0; page < pages.count(); ++page)
      static_cast<volatile unsigned char*>(pages[page])[round] = Pages::value(page);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_TRUE(pages.are_intact());
}

TEST_F(TrapsTest, ADiscardedPageIsEmpty) {
  const Pages pages(3);
  ASSERT_TRUE(server.arm(pages[1]));
  ASSERT_EQ(madvise(pages[0], 3 * kPageBytes, MADV_DONTNEED), 0);
  EXPECT_EQ(pages[1][0], 0);
  server.settle();
  EXPECT_TRUE(server.accesses.empty());
  EXPECT_EQ(server.losses, std::vector<uintptr_t>{pages.address(1)});
}

// Moves fail while a thread forks, so the server reads events in the midst of bringing pages back.
TEST_F(TrapsTest, APageThatIsDiscardedWhileItComesBackIsEmpty) {
  const Pages pages(32);
  std::atomic<bool> ends = false;
  std::thread forks([&] {
    while (!ends) {
      const pid_t child = fork();
      if (child == 0) _exit(0);
      wait_for(child);
    }
  });
  size_t wrong = 0;
  for (int round = 0; round < 150; ++round) {
    for (size_t page = 0; page < pages.count(); ++page) {
      std::memset(pages[page], Pages::value(page), kPageBytes);
      server.arm(pages[page]);
    }
    std::thread discards([&] { madvise(pages[0], pages.count() * kPageBytes, MADV_DONTNEED); });
    for (size_t page = 0; page < pages.count(); ++page) server.disarm(pages[page]);
    discards.join();
    for (size_t page = 0; page < pages.count(); ++page) wrong += pages[page][0] != 0;
  }
  ends = true;
  forks.join();
  EXPECT_EQ(wrong, 0u);
}

TEST_F(TrapsTest, AnUnmappedPageIsForgotten) {
  const Pages pages(2);
  ASSERT_TRUE(server.arm(pages[1]));
  ASSERT_EQ(munmap(pages[1], kPageBytes), 0);
  server.settle();
  EXPECT_EQ(server.losses, std::vector<uintptr_t>{pages.address(1)});
}

TEST_F(TrapsTest, AMovedPageKeepsItsContent) {
  const Pages pages(3);
  ASSERT_TRUE(server.arm(pages[1]));
  auto* room = static_cast<unsigned char*>(
      mmap(nullptr, kPageBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  void* at = mremap(pages[1], kPageBytes, kPageBytes, MREMAP_MAYMOVE | MREMAP_FIXED, room);
  ASSERT_EQ(at, room);
  EXPECT_EQ(room[9], Pages::value(1));
  server.settle();
  EXPECT_EQ(server.losses, std::vector<uintptr_t>{pages.address(1)});
  munmap(room, kPageBytes);
}

TEST_F(TrapsTest, AProtectedPageKeepsItsContent) {
  const Pages pages(1);
  ASSERT_TRUE(server.arm(pages[0]));
  ASSERT_EQ(mprotect(pages[0], kPageBytes, PROT_READ), 0);
  EXPECT_TRUE(pages.are_intact());
  ASSERT_EQ(mprotect(pages[0], kPageBytes, PROT_READ | PROT_WRITE), 0);
  server.settle();
  EXPECT_EQ(server.accesses.size(), 1u);
}

TEST(Traps, PagesThatTheKernelMigratesKeepTheirContent) {
  constexpr size_t kCount = 1024;
  Server server(kCount);
  if (server.refusal != Refusal::kNone) GTEST_SKIP() << text_of(server.refusal);
  const Compaction compaction;
  if (!compaction.is_possible()) GTEST_SKIP() << "compaction cannot be started";
  size_t wrong = 0;
  // Only new pages are migrated, mostly.
  std::vector<std::unique_ptr<Pages>> kept;
  for (int round = 0; round < 40; ++round) {
    kept.push_back(std::make_unique<Pages>(kCount));
    const Pages& pages = *kept.back();
    for (int times = 0; times < 3; ++times)
      server.run_in_server([&](Traps& traps) {
        traps.arm_range(pages.address(0), pages.address(kCount));
        traps.disarm_all();
      });
    wrong += !pages.are_intact();
  }
  EXPECT_EQ(wrong, 0u);
}

TEST_F(TrapsTest, AReaderOfTheBellWaitsForTheServer) {
  for (uint64_t ring = 1; ring <= 100; ++ring) {
    while (server.rings < ring) EXPECT_EQ(*server.bell(), 0);
  }
}

// The server may not arm it again before the reader has gone on.
TEST_F(TrapsTest, AReadOfTheBellIsSeenOnce) {
  constexpr uint64_t kReads = 200;
  for (uint64_t read = 0; read < kReads; ++read) {
    const uint64_t before = server.rings;
    while (server.rings == before) EXPECT_EQ(*server.bell(), 0);
  }
  EXPECT_LE(server.rings, 2 * kReads);
}

TEST(Traps, TheProgramDoesNotSeeTheDescriptor) {
  const auto open_files = [] {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
      count += entry.path() != "";
    return count;
  };
  const size_t before = open_files();
  const Server server;
  EXPECT_EQ(open_files(), before);
}

}  // namespace
}  // namespace halo::traps
