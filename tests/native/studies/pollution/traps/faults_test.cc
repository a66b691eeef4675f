// What the program may do to armed pages, and kernels that are short of mappings.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "pages.h"
#include "server.h"
#include "studies/pollution/traps/mappings.h"

namespace halo::traps {
namespace {

class FaultsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (server.refusal != Refusal::kNone) GTEST_SKIP() << text_of(server.refusal);
  }
  void arm_all(const Pages& pages) {
    for (size_t page = 0; page < pages.count(); ++page)
      ASSERT_TRUE(server.arm(pages[page])) << "page " << page;
  }
  // By the system call: sanitizers have functions that do nothing.
  static long lock(const void* at, size_t bytes) { return syscall(SYS_mlock, at, bytes); }
  uint32_t armed() {
    uint32_t count = 0;
    server.run_in_server([&](Traps& traps) { count = traps.armed(); });
    return count;
  }
  static constexpr uint32_t kCapacity = 64;
  Server server{kCapacity};
};

TEST_F(FaultsTest, AdviceOnArmedPagesKeepsTheirContent) {
  constexpr int kPopulateRead = 22, kPopulateWrite = 23, kCold = 20, kPageOut = 21;
  const Pages pages(8);
  for (const int advice : {MADV_NORMAL, MADV_RANDOM, MADV_WILLNEED, MADV_MERGEABLE,
                           MADV_UNMERGEABLE, kCold, kPageOut, kPopulateRead, kPopulateWrite}) {
    arm_all(pages);
    const int answer = madvise(pages[0], pages.count() * kPageBytes, advice);
    EXPECT_TRUE(answer == 0 || errno == EINVAL) << advice << ": " << std::strerror(errno);
    EXPECT_TRUE(pages.are_intact()) << advice;
    server.settle();
  }
}

TEST_F(FaultsTest, APageThatMayNotBeAccessedKeepsItsContent) {
  const Pages pages(3);
  arm_all(pages);
  ASSERT_EQ(mprotect(pages[1], kPageBytes, PROT_NONE), 0);
  server.disarm(pages[1]);
  ASSERT_EQ(mprotect(pages[1], kPageBytes, PROT_READ | PROT_WRITE), 0);
  EXPECT_TRUE(pages.are_intact());
  server.settle();
  EXPECT_EQ(server.accesses.size(), 2u);
  arm_all(pages);
  EXPECT_TRUE(pages.are_intact()) << "the slots are usable again";
}

// mlock reads all pages of its range, and mlockall those that hold the content of armed ones, too.
TEST_F(FaultsTest, LockedPagesKeepTheirContent) {
  const Pages pages(kCapacity);
  for (const bool everything : {false, true}) {
    arm_all(pages);
    const long answer = everything ? mlockall(MCL_CURRENT) : lock(pages[0], 8 * kPageBytes);
    if (answer != 0) GTEST_SKIP() << "memory may not be locked: " << std::strerror(errno);
    EXPECT_TRUE(pages.are_intact());
    // The first time, slots may be in use: mlockall has filled them.
    for (size_t page = 0; page < pages.count(); ++page)
      for (int attempt = 0; attempt < 2; ++attempt) server.arm(pages[page]);
    EXPECT_EQ(armed(), everything ? kCapacity : kCapacity - 8) << "only one side is locked";
    ASSERT_EQ(syscall(SYS_munlock, pages[0], pages.count() * kPageBytes), 0);
    server.run_in_server([](Traps& traps) { traps.disarm_all(); });
    EXPECT_TRUE(pages.are_intact());
    ASSERT_EQ(munlockall(), 0);
    arm_all(pages);
    EXPECT_TRUE(pages.are_intact());
    server.settle();
  }
}

// Linux 6.17 and later move what they can: the pages up to the first that is registered.
TEST_F(FaultsTest, ARefusedMoveKeepsTheContentOfAllPages) {
  const Pages pages(4);
  const size_t bytes = pages.count() * kPageBytes;
  ASSERT_TRUE(server.arm(pages[1]));
  ASSERT_TRUE(server.arm(pages[2]));
  auto* const room = static_cast<unsigned char*>(
      mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mremap(pages[0], bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, room);
  unsigned char present = 0;
  for (size_t page = 0; page < pages.count(); ++page) {
    const bool moved = mincore(pages[page], kPageBytes, &present) != 0;
    const unsigned char* at = moved ? room + page * kPageBytes : pages[page];
    EXPECT_EQ(at[7], Pages::value(page)) << page << (moved ? " moved" : "");
  }
  server.settle();
  munmap(room, bytes);
}

// Mappings, until the kernel has no more than `left` of them.
class ManyMappings {
 public:
  explicit ManyMappings(uint64_t left) : maps_(open("/proc/self/maps", O_RDONLY)) {
    const uint64_t wanted = mappings_left(maps_);
    bytes_ = (wanted + 2) * kPageBytes;
    at_ = static_cast<char*>(
        mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    for (uint64_t page = 1; page + left < wanted; page += 2)
      if (mprotect(at_ + page * kPageBytes, kPageBytes, PROT_READ) != 0) break;
  }
  ~ManyMappings() {
    munmap(at_, bytes_);
    close(maps_);
  }
  ManyMappings(const ManyMappings&) = delete;
  ManyMappings& operator=(const ManyMappings&) = delete;

  uint64_t left() const { return mappings_left(maps_); }
  // Makes all that are left.
  void use_up() const {
    for (uint64_t page = bytes_ / kPageBytes; page-- > 1;)
      mprotect(at_ + page * kPageBytes, kPageBytes, page % 2 == 0 ? PROT_NONE : PROT_READ);
  }

 private:
  int maps_;
  size_t bytes_;
  char* at_;
};

#ifdef __has_feature
constexpr bool kSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

class MappingsTest : public FaultsTest {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "the sanitizer needs mappings, too";
    FaultsTest::SetUp();
    uint64_t limit = 0;
    std::ifstream("/proc/sys/vm/max_map_count") >> limit;
    if (limit > 200'000) GTEST_SKIP() << "vm.max_map_count is too large to be used up: " << limit;
  }
};

TEST_F(MappingsTest, TheProgramKeepsHalfOfItsMappings) {
  constexpr uint64_t kLeft = 80;
  const Pages pages(2 * kCapacity);
  const ManyMappings many(kLeft);
  const uint64_t before = many.left();
  ASSERT_GE(before, kLeft - 2);
  ASSERT_LE(before, kLeft + 2);
  uint32_t count = 0;
  server.run_in_server([&](Traps& traps) {
    traps.leave_mappings();
    // No two of them are neighbours.
    for (size_t page = 0; page < pages.count(); page += 2) count += traps.arm(pages.address(page));
  });
  EXPECT_EQ(count, before / 4);
  EXPECT_GE(many.left(), before / 2);
  EXPECT_TRUE(pages.are_intact());
}

TEST_F(MappingsTest, WithoutMappingsNothingIsArmed) {
  const Pages pages(2);
  const ManyMappings many(0);
  many.use_up();
  bool armed = true;
  server.run_in_server([&](Traps& traps) {
    traps.leave_mappings();
    armed = traps.arm(pages.address(0));
  });
  EXPECT_FALSE(armed);
  EXPECT_TRUE(pages.are_intact());
}

// Neighbours are one mapping. To end the registration of the middle one, it would have to be
// parted.
TEST_F(MappingsTest, APageInTheMiddleIsDisarmedWithoutMappings) {
  const Pages pages(5);
  for (size_t page = 1; page < 4; ++page) ASSERT_TRUE(server.arm(pages[page]));
  {
    const ManyMappings many(0);
    many.use_up();
    ASSERT_EQ(many.left(), 0u);
    server.disarm(pages[2]);
    EXPECT_EQ(pages[2][3], Pages::value(2));
    // It is registered still, so that its next fault is reported.
    ASSERT_EQ(madvise(pages[2], kPageBytes, MADV_DONTNEED), 0);
    EXPECT_EQ(pages[2][3], 0);
    std::memset(pages[2], Pages::value(2), kPageBytes);
  }
  EXPECT_TRUE(pages.are_intact());
  server.settle();
  EXPECT_EQ(server.accesses.size(), 2u);
}

}  // namespace
}  // namespace halo::traps
