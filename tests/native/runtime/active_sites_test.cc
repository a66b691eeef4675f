// Sites are active exactly while their calls are: on synthetic stacks, and with thunks that run.
#include "runtime/extra/redirect/active_sites.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "runtime/extra/redirect/thunks.h"

namespace halo::runtime {
namespace {

constexpr uintptr_t kNone = ~uintptr_t{0};

uintptr_t address_of(const uintptr_t* slot) { return reinterpret_cast<uintptr_t>(slot); }

struct SyntheticStack {
  uintptr_t words[64]{};
  ActiveSites active{};

  SyntheticStack() {
    active.low = address_of(words);
    active.high = address_of(words + 64);
  }
};

void own_code() {}

TEST(ActiveSites, NeedTheirReturnAddressAboveTheStackPointer) {
  SyntheticStack stack;
  const SiteAddress site{0x1000, 0, false};
  stack.words[20] = 0x1000;
  stack.active.sites[0] = {address_of(stack.words + 20), 0};
  EXPECT_TRUE(is_active(stack.active, 0, site, stack.words + 10));
  EXPECT_TRUE(is_active(stack.active, 0, site, stack.words + 20));
  EXPECT_FALSE(is_active(stack.active, 0, site, stack.words + 21)) << "the frame has ended";
  EXPECT_FALSE(is_active(stack.active, 0, site, stack.words + 10)) << "and is forgotten";
  stack.active.sites[0] = {address_of(stack.words + 20), 0};
  stack.words[20] = 0x2000;
  EXPECT_FALSE(is_active(stack.active, 0, site, stack.words + 10)) << "another call's slot by now";
}

TEST(ActiveSites, NeedTheSameCallerIfItsSlotIsKnown) {
  SyntheticStack stack;
  const SiteAddress site{0x1000, 32, false};
  stack.words[20] = 0x1000;
  stack.words[24] = 0x7000;
  stack.active.sites[3] = {address_of(stack.words + 20), 0x7000};
  EXPECT_TRUE(is_active(stack.active, 3, site, stack.words + 10));
  stack.words[24] = 0x7010;
  EXPECT_FALSE(is_active(stack.active, 3, site, stack.words + 10));
  // The caller's slot would be outside the stack.
  stack.words[62] = 0x1000;
  stack.active.sites[3] = {address_of(stack.words + 62), 0};
  EXPECT_FALSE(is_active(stack.active, 3, site, stack.words + 10));
}

TEST(ActiveSites, ThatCallTheAllocatorAreSeenAtItsReturnAddress) {
  SyntheticStack stack;
  stack.words[20] = 0x1000;
  const auto called_from = [&](uintptr_t address, const uintptr_t* here) {
    return is_caller(address, here, return_words(here));
  };
  EXPECT_TRUE(called_from(0x1000, stack.words + 20));
  EXPECT_FALSE(called_from(0x1000, stack.words + 18)) << "a frame of the program's is between";
  // An address of the library's own code: that of this test.
  stack.words[18] = reinterpret_cast<uintptr_t>(&own_code);
  EXPECT_TRUE(called_from(0x1000, stack.words + 18));
  stack.words[20] = kNone;
  EXPECT_FALSE(called_from(kNone, stack.words + 18)) << "a site that is not to be seen";
}

TEST(ActiveSites, AreFoundOutermostOnAStackThatIsSeenForTheFirstTime) {
  SyntheticStack stack;
  const SiteAddress sites[] = {{0x1000, 16, false}, {0x2000, 0, false}, {kNone, 0, false}};
  stack.words[5] = 0x1000;  // below the stack pointer
  stack.words[20] = stack.words[40] = 0x1000;
  stack.words[42] = 0x7000;
  stack.words[30] = 0x2000;
  find_active_sites(stack.active, sites, 3, stack.words + 10);
  EXPECT_EQ(stack.active.sites[0].slot, address_of(stack.words + 40));
  EXPECT_EQ(stack.active.sites[0].caller, 0x7000u);
  EXPECT_EQ(stack.active.sites[1].slot, address_of(stack.words + 30));
  EXPECT_EQ(stack.active.sites[2].slot, 0u);
}

TEST(ActiveSites, FindTheStacksOfThreads) {
  const SiteAddress sites[] = {{kNone, 0, false}};
  for (const size_t size : {size_t{0}, size_t{64} << 10, size_t{3} << 20}) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (size != 0) pthread_attr_setstacksize(&attributes, size);
    pthread_t thread;
    const auto body = [](void* argument) -> void* {
      const auto* here = static_cast<const uintptr_t*>(__builtin_frame_address(0));
      const ActiveSites* found =
          begin_active_sites(static_cast<const SiteAddress*>(argument), 1, here);
      EXPECT_NE(found, nullptr);
      if (found == nullptr) return nullptr;
      EXPECT_EQ(found, active_sites);
      EXPECT_TRUE(on_own_stack(*found, here));
      pthread_attr_t own;
      void* low = nullptr;
      size_t bytes = 0;
      pthread_getattr_np(pthread_self(), &own);
      pthread_attr_getstack(&own, &low, &bytes);
      EXPECT_EQ(found->low, reinterpret_cast<uintptr_t>(low));
      EXPECT_LE(found->high, found->low + bytes);
      EXPECT_GE(found->high + 64 * 1024, found->low + bytes);
      // A heap block is on no thread's stack.
      std::vector<uintptr_t> elsewhere(8);
      active_sites = nullptr;
      EXPECT_EQ(begin_active_sites(static_cast<const SiteAddress*>(argument), 1, elsewhere.data()),
                nullptr);
      pthread_attr_destroy(&own);
      return nullptr;
    };
    ASSERT_EQ(pthread_create(&thread, &attributes, body, const_cast<SiteAddress*>(sites)), 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
  }
}

// --- thunks, called by code made like a redirected call ---

// The state that a thunk must not change: six integer arguments, eight of floating point, al, and
// the stack.
extern "C" long sum_of_all(long a, long b, long c, long d, long e, long f, double s, double t,
                           double u, double v, double w, double x, double y, double z, long g,
                           long h, double i) {
  const double floats = s + 2 * t + 4 * u + 8 * v + 16 * w + 32 * x + 64 * y + 128 * z + 256 * i;
  return a + 2 * b + 4 * c + 8 * d + 16 * e + 32 * f + 64 * g + 128 * h +
         1000 * static_cast<long>(floats);
}

using SumOfAll = decltype(&sum_of_all);

// A page of thunks near their targets.
class Page {
 public:
  Page() {
    const uintptr_t near = reinterpret_cast<uintptr_t>(&sum_of_all) & ~uintptr_t{4095};
    for (uintptr_t away = 1 << 16; memory_ == nullptr && away < 1u << 30; away += 1 << 16) {
      void* p = mmap(reinterpret_cast<void*>(near - away), 4096, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      if (p != MAP_FAILED) memory_ = static_cast<uint8_t*>(p);
    }
  }
  ~Page() { munmap(memory_, 4096); }
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;

  uint8_t* thunk(uint32_t site, uint32_t step, const void* target) {
    uint8_t* at = memory_ + used_;
    used_ += kThunkBytes;
    const Thunk thunk{site, step, active_sites_offset(), reinterpret_cast<uintptr_t>(target)};
    EXPECT_TRUE(write_thunk(thunk, at, reinterpret_cast<uintptr_t>(at)));
    return at;
  }
  void close() { ASSERT_EQ(mprotect(memory_, 4096, PROT_READ | PROT_EXEC), 0); }

 private:
  uint8_t* memory_ = nullptr;
  size_t used_ = 0;
};

ActiveSites* own_record(const void* here) {
  static thread_local ActiveSites record;
  std::memset(static_cast<void*>(&record), 0, sizeof record);
  record.low = reinterpret_cast<uintptr_t>(here) - (1 << 16);
  record.high = reinterpret_cast<uintptr_t>(here) + (1 << 16);
  return active_sites = &record;
}

TEST(Thunks, LeaveArgumentsAndReturnValuesAlone) {
  Page page;
  std::vector<SumOfAll> functions;
  for (const uint32_t step : {0u, 16u})
    functions.push_back(reinterpret_cast<SumOfAll>(
        page.thunk(step, step, reinterpret_cast<const void*>(&sum_of_all))));
  page.close();
  const auto call = [](SumOfAll f) {
    return f(1, 2, 3, 4, 5, 6, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9, 10, 11.5);
  };
  for (const SumOfAll thunk : functions) {
    active_sites = nullptr;
    EXPECT_EQ(call(thunk), call(&sum_of_all)) << "no notes yet";
    ActiveSites* record = own_record(__builtin_frame_address(0));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(call(thunk), call(&sum_of_all));
    // Another stack: no call is recorded.
    std::memset(record->sites, 0, sizeof record->sites);
    record->low += 1 << 20;
    record->high += 1 << 20;
    EXPECT_EQ(call(thunk), call(&sum_of_all));
    EXPECT_EQ(record->sites[0].slot | record->sites[16].slot, 0u);
  }
  active_sites = nullptr;
}

// Recursion, loops, unwinding by longjmp: each step compares the thunk's records with a list of the
// active sites. Each level is called through the thunk of one of three sites, or directly.
struct Recursion {
  using Function = void (*)(Recursion*, int);
  Function through[4];  // by site; 3: directly
  std::vector<int> path;
  std::mt19937 random;
  int left = 20000;
  jmp_buf way_out;
  size_t caught_at = 0;
};

uintptr_t site_addresses[4];  // return addresses; recorded by the first call of each

__attribute__((noinline)) void level(Recursion* r, int site);

// One call instruction for each site, as a redirected call has one return address.
template <int site>
__attribute__((noinline)) void call_site(Recursion* r) {
  r->through[site](r, site);
  asm volatile("# the call is not a jump %0" ::"i"(site));
}

void check(Recursion& r, const uintptr_t* here) {
  for (int site = 0; site < 3; ++site) {
    const bool real = std::count(r.path.begin(), r.path.end(), site) != 0;
    const SiteAddress address{site_addresses[site], 0, false};
    ASSERT_EQ(is_active(*active_sites, static_cast<size_t>(site), address, here), real);
  }
}

void go_down(Recursion* r, int site) {
  r->path.push_back(site);
  switch (site) {
    case 0:
      call_site<0>(r);
      break;
    case 1:
      call_site<1>(r);
      break;
    case 2:
      call_site<2>(r);
      break;
    default:
      call_site<3>(r);
  }
  r->path.pop_back();
}

void level(Recursion* r, int site) {
  const auto* slot = static_cast<const uintptr_t*>(__builtin_frame_address(0)) + 1;
  site_addresses[site] = *slot;
  check(*r, slot);
  while (--r->left > 0 && r->path.size() < 40 && r->random() % 9 < 4) {
    go_down(r, static_cast<int>(r->random() % 4));
    check(*r, slot);
  }
  if (r->caught_at != 0 && r->path.size() > r->caught_at && r->random() % 16 == 0)
    longjmp(r->way_out, 1);
}

TEST(Thunks, RecordTheOutermostCallThroughRecursionAndLongjmp) {
  Page page;
  Recursion r;
  r.random.seed(7);
  for (uint32_t site = 0; site < 3; ++site)
    r.through[site] = reinterpret_cast<Recursion::Function>(
        page.thunk(site, 0, reinterpret_cast<const void*>(&level)));
  r.through[3] = &level;
  page.close();
  own_record(__builtin_frame_address(0));
  while (r.left > 0) {
    r.path.clear();
    r.caught_at = 1 + r.random() % 5;
    if (setjmp(r.way_out) == 0) {
      go_down(&r, static_cast<int>(r.random() % 4));
    } else {
      r.path.clear();
      check(r, static_cast<const uintptr_t*>(__builtin_frame_address(0)));
    }
  }
  active_sites = nullptr;
}

}  // namespace
}  // namespace halo::runtime
