// The C functions: results, limits and bad input.
#include <errno.h>
#include <gtest/gtest.h>
#include <halo/tidy.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

namespace {

class Context {
 public:
  explicit Context(const tidy_settings_t& settings = {}) : ctx(tidy_create(&settings)) {}
  ~Context() { tidy_destroy(ctx); }

  tidy_ctx_t* const ctx;
};

uint64_t live_bytes(const Context& context) {
  tidy_stats_t stats;
  tidy_stats(context.ctx, &stats);
  return stats.live_bytes;
}

TEST(Tidy, ServesAndFreesByHints) {
  const Context context;
  ASSERT_NE(context.ctx, nullptr);
  std::vector<void*> objects;
  for (unsigned i = 0; i < 10'000; ++i) {
    void* const p = tidy_alloc(context.ctx, 40, &i);
    ASSERT_TRUE(tidy_owns(p));
    ASSERT_EQ(tidy_usable_size(p), 40u);
    std::memset(p, int(i), 40);
    objects.push_back(p);
  }
  EXPECT_EQ(live_bytes(context), 400'000u);
  for (unsigned i = 0; i < objects.size(); ++i) {
    EXPECT_EQ(static_cast<unsigned char*>(objects[i])[39], i % 256);
    tidy_free(objects[i]);
  }
  EXPECT_EQ(live_bytes(context), 0u);
}

TEST(Tidy, ForwardsWhatABucketCannotHold) {
  const Context context;
  const unsigned hint = 1;
  void* const p = tidy_alloc(context.ctx, 4097, &hint);
  EXPECT_FALSE(tidy_owns(p));
  EXPECT_GE(tidy_usable_size(p), 4097u);
  tidy_stats_t stats;
  tidy_stats(context.ctx, &stats);
  EXPECT_EQ(stats.forwarded, 1u);
  EXPECT_EQ(stats.live_bytes, 0u);
  tidy_free(p);
}

TEST(Tidy, WithoutAContextIsMalloc) {
  void* const p = tidy_alloc(nullptr, 40, nullptr);
  EXPECT_FALSE(tidy_owns(p));
  std::free(p);
  tidy_destroy(nullptr);
  tidy_free(nullptr);
  EXPECT_EQ(tidy_usable_size(nullptr), 0u);
}

TEST(Tidy, ServesTheLimitsOfSizes) {
  const Context context;
  const unsigned hint = 1;
  void* const none = tidy_alloc(context.ctx, 0, &hint);
  EXPECT_NE(none, nullptr);
  tidy_free(none);
  errno = 0;
  EXPECT_EQ(tidy_alloc(context.ctx, SIZE_MAX, &hint), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(tidy_calloc(context.ctx, SIZE_MAX / 2, 3, &hint), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(tidy_alloc_aligned(context.ctx, 16, SIZE_MAX, &hint), nullptr);
}

TEST(Tidy, RefusesSettingsOutOfTheirRange) {
  tidy_settings_t wrong[5] = {};
  wrong[0].dimensions = 5;
  wrong[1].bucket_bytes = 32;
  wrong[2].bucket_bytes = 1000;
  wrong[3].bucket_bytes = 1 << 20;
  wrong[4].flags = 1u << 20;
  for (const tidy_settings_t& settings : wrong) {
    errno = 0;
    EXPECT_EQ(tidy_create(&settings), nullptr);
    EXPECT_EQ(errno, EINVAL);
  }
  const Context largest(tidy_settings_t{4, {1, UINT32_MAX, 3, 0}, 65536, 0});
  ASSERT_NE(largest.ctx, nullptr);
  const unsigned hint[] = {7, UINT32_MAX, 5, 9};
  tidy_free(tidy_alloc(largest.ctx, 60'000, hint));
}

TEST(Tidy, ZeroesMemory) {
  const Context context;
  const unsigned hint = 1;
  void* const dirty = tidy_alloc(context.ctx, 100, &hint);
  std::memset(dirty, 1, 100);
  tidy_free(dirty);
  auto* const p = static_cast<char*>(tidy_calloc(context.ctx, 10, 10, &hint));
  EXPECT_EQ(p, dirty);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(p[i], 0);
  tidy_free(p);
  void* const large = tidy_calloc(context.ctx, 100, 100, &hint);
  EXPECT_FALSE(tidy_owns(large));
  tidy_free(large);
}

TEST(Tidy, ReallocatesInPlaceWhileTheBlockFits) {
  const Context context;
  const unsigned hint = 1;
  auto* p = static_cast<char*>(tidy_realloc(context.ctx, nullptr, 100, &hint));
  std::strcpy(p, "content");
  EXPECT_EQ(tidy_realloc(context.ctx, p, 104, &hint), p);
  EXPECT_EQ(tidy_realloc(context.ctx, p, 60, &hint), p);
  char* const grown = static_cast<char*>(tidy_realloc(context.ctx, p, 300, &hint));
  EXPECT_NE(grown, p);
  EXPECT_STREQ(grown, "content");
  char* const shrunk = static_cast<char*>(tidy_realloc(context.ctx, grown, 10, &hint));
  EXPECT_NE(shrunk, grown);
  EXPECT_STREQ(shrunk, "content");
  char* const large = static_cast<char*>(tidy_realloc(context.ctx, shrunk, 5000, &hint));
  EXPECT_FALSE(tidy_owns(large));
  EXPECT_STREQ(large, "content");
  char* const back = static_cast<char*>(tidy_realloc(context.ctx, large, 50, &hint));
  EXPECT_TRUE(tidy_owns(back));
  EXPECT_STREQ(back, "content");
  EXPECT_EQ(tidy_realloc(context.ctx, back, SIZE_MAX, &hint), nullptr);
  EXPECT_STREQ(back, "content");
  tidy_free(back);
  EXPECT_EQ(live_bytes(context), 0u);
}

TEST(Tidy, AlignsWhatItReallocates) {
  const Context context;
  const unsigned hint = 1;
  for (int i = 0; i < 50; ++i) {
    void* const p = tidy_alloc(context.ctx, 40, &hint);
    const void* const shrunk = tidy_realloc(context.ctx, p, 32, &hint);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(shrunk) % 16, 0u);
  }
}

#ifndef HALO_THREAD_SANITIZER  // its own memory grows with the program's
// Bytes of this process in memory.
size_t resident() {
  size_t pages = 0;
  FILE* const file = std::fopen("/proc/self/statm", "r");
  EXPECT_EQ(std::fscanf(file, "%*u %zu", &pages), 1);
  std::fclose(file);
  return pages * 4096;
}

TEST(Tidy, ReturnsTheMemoryOfAContext) {
  const size_t before = resident();
  tidy_ctx_t* const ctx = tidy_create(nullptr);
  for (unsigned i = 0; i < 200'000; ++i) std::memset(tidy_alloc(ctx, 500, &i), 1, 500);
  EXPECT_GE(resident(), before + (90 << 20));
  tidy_destroy(ctx);
  EXPECT_LE(resident(), before + (8 << 20));
}
#endif

TEST(Tidy, AlignsAsAsked) {
  const Context context;
  const unsigned hint = 1;
  for (size_t alignment = 1; alignment <= 4096; alignment *= 2)
    for (const size_t size : {1, 8, 24, 100}) {
      void* const p = tidy_alloc_aligned(context.ctx, alignment, size, &hint);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % alignment, 0u);
      EXPECT_EQ(tidy_owns(p), alignment <= 16);
      tidy_free(p);
    }
  for (const size_t wrong : {0, 3, 24}) {
    errno = 0;
    EXPECT_EQ(tidy_alloc_aligned(context.ctx, wrong, 8, &hint), nullptr);
    EXPECT_EQ(errno, EINVAL);
  }
}

TEST(Tidy, PutsNeighboursTogether) {
  const Context context, other;
  const unsigned hint = 1;
  std::vector<void*> objects;
  for (unsigned i = 0; i < 10'000; ++i) objects.push_back(tidy_alloc(context.ctx, 32, &i));
  for (size_t i = 1; i < objects.size(); i += 2) tidy_free(objects[i]);
  size_t same_bucket = 0;
  for (size_t i = 0; i < objects.size(); i += 2) {
    const void* const near = tidy_near(context.ctx, 32, objects[i]);
    same_bucket +=
        reinterpret_cast<uintptr_t>(near) / 1024 == reinterpret_cast<uintptr_t>(objects[i]) / 1024;
  }
  EXPECT_GE(same_bucket, 4500u);
  void* const foreign = tidy_alloc(other.ctx, 32, &hint);
  for (const void* neighbour : {static_cast<const void*>(nullptr), static_cast<const void*>(&hint),
                                static_cast<const void*>(foreign)})
    EXPECT_TRUE(tidy_owns(tidy_near(context.ctx, 32, neighbour)));
  EXPECT_EQ(live_bytes(other), 32u);
}

TEST(Tidy, IgnoresFreesOfWhatIsNotAUsedBlock) {
  const Context context;
  const unsigned hint = 1;
  auto* const p = static_cast<char*>(tidy_alloc(context.ctx, 64, &hint));
  tidy_free(p + 8);
  tidy_free(p + 1);
  EXPECT_EQ(live_bytes(context), 64u);
  tidy_free(p);
  tidy_free(p);
  EXPECT_EQ(live_bytes(context), 0u);
}

TEST(Tidy, FreesEverythingWithTheContext) {
  const tidy_settings_t settings{};
  tidy_ctx_t* const ctx = tidy_create(&settings);
  void* last = nullptr;
  for (unsigned i = 0; i < 100'000; ++i) last = tidy_alloc(ctx, 48, &i);
  ASSERT_TRUE(tidy_owns(last));
  tidy_destroy(ctx);
  tidy_free(last);  // no context's any more
  EXPECT_EQ(tidy_usable_size(last), 0u);
}

TEST(Tidy, HasManyContextsOneAfterTheOther) {
  for (unsigned i = 0; i < 1000; ++i) {
    const Context context;
    ASSERT_NE(context.ctx, nullptr);
    EXPECT_TRUE(tidy_owns(tidy_alloc(context.ctx, 48, &i)));
  }
  std::vector<tidy_ctx_t*> all;
  while (tidy_ctx_t* const ctx = tidy_create(nullptr)) all.push_back(ctx);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_GE(all.size(), 200u);
  for (tidy_ctx_t* const ctx : all) tidy_destroy(ctx);
  EXPECT_NE(Context().ctx, nullptr);
}

TEST(Tidy, HasAContextOfTheProcess) {
  void* const p = tidy_malloc(40, UINT64_MAX);
  EXPECT_TRUE(tidy_owns(p));
  tidy_free(p);
}

TEST(Bins, AreDefinedForAllValues) {
  EXPECT_EQ(tidy_bin(0, 2), 1u << 31);
  EXPECT_EQ(tidy_bin(3.9, 2), (1u << 31) + 1);
  EXPECT_EQ(tidy_bin(-0.1, 2), (1u << 31) - 1);
  EXPECT_EQ(tidy_bin(-1e300, 2), 0u);
  EXPECT_EQ(tidy_bin(1e300, 2), UINT32_MAX - 1);
  EXPECT_EQ(tidy_bin(std::numeric_limits<double>::infinity(), 2), UINT32_MAX - 1);
  EXPECT_EQ(tidy_bin(std::nan(""), 2), UINT32_MAX);
  EXPECT_EQ(tidy_bin(1, 0), UINT32_MAX - 1);
  EXPECT_EQ(tidy_bin(0, 0), UINT32_MAX);
  EXPECT_EQ(tidy_bin(1, std::nan("")), UINT32_MAX);
}

TEST(Bins, KeysHaveTheOrderOfTheValues) {
  const double values[] = {
      -std::numeric_limits<double>::infinity(), -3e38, -1, -1e-30, 0, 1e-30, 1, 3e38,
      std::numeric_limits<double>::infinity()};
  for (size_t i = 1; i < std::size(values); ++i) {
    EXPECT_LT(tidy_f64_key(values[i - 1]), tidy_f64_key(values[i]));
    EXPECT_LT(tidy_f32_key(float(values[i - 1])), tidy_f32_key(float(values[i])));
  }
  EXPECT_EQ(tidy_f64_key(std::nan("")), UINT64_MAX);
  EXPECT_EQ(tidy_f32_key(-std::nanf("")), UINT32_MAX);
}

#ifdef HAS_EXPORTS
TEST(Exports, FreeAndReallocTakeMemoryOfTidy) {
  const Context context;
  const unsigned hint = 1;
  void* volatile p = tidy_alloc(context.ctx, 64, &hint);
  std::free(p);
  EXPECT_EQ(live_bytes(context), 0u);
  p = tidy_alloc(context.ctx, 64, &hint);
  ::operator delete(p);
  EXPECT_EQ(live_bytes(context), 0u);
  p = tidy_alloc(context.ctx, 64, &hint);
  std::strcpy(static_cast<char*>(p), "content");
  p = std::realloc(p, 200);
  EXPECT_STREQ(static_cast<char*>(p), "content");
  EXPECT_FALSE(tidy_owns(p));
  EXPECT_EQ(live_bytes(context), 0u);
  std::free(p);
  p = tidy_alloc(context.ctx, 64, &hint);
  EXPECT_EQ(std::realloc(p, 0), nullptr);
  EXPECT_EQ(live_bytes(context), 0u);
}
#endif

}  // namespace
