// Placement by rules, in a process that frees by the library.
#include <gtest/gtest.h>
#include <halo/tidy_rules.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <set>
#include <vector>

namespace {

constexpr size_t kBytes = 40;

// A rule by one whole number; with `behind` bytes, of what a pointer points to.
struct Rule {
  explicit Rule(int behind = -1) {
    rule.functions = &functions;
    rule.context = &context;
    rule.spare = &spare;
    rule.identity = ++last_identity;
    rule.bytes = kBytes;
    rule.dimensions = 1;
    rule.keys[0] = {1.0, TIDY_U64, behind};
  }
  ~Rule() {
    if (is_served) tidy_destroy(context);
  }
  Rule(const Rule&) = delete;
  Rule& operator=(const Rule&) = delete;

  // As a rewritten program allocates.
  void* allocate(uint64_t value) const {
    void* const reserved = tidy_reserve(&rule);
    if (reserved == nullptr) return functions.allocate(kBytes);
    is_served = true;
    return tidy_place(&rule, reserved, &value);
  }

  static inline std::atomic<uint64_t> last_identity = 0;
  tidy_functions_t functions = {std::malloc, std::free, nullptr};

  tidy_ctx_t* context = nullptr;
  void* spare = nullptr;
  tidy_rule_t rule{};
  mutable std::atomic<bool> is_served = false;
};

void* own_allocate(size_t size) { return std::malloc(size); }
void own_release(void* p) { std::free(p); }
void own_release_sized(void* p, size_t) { std::free(p); }

TEST(Rules, PlaceByTheValue) {
  const Rule rule;
  std::vector<void*> blocks;
  std::set<uintptr_t> pages;
  for (uint64_t at = 0; at < 4000; ++at) {
    void* const p = rule.allocate(at % 100);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(p) % 16, 0u);
    ASSERT_TRUE(tidy_owns(p));
    std::memset(p, static_cast<int>(at), kBytes);
    if (at % 100 == 7) pages.insert(reinterpret_cast<uintptr_t>(p) / 4096);
    blocks.push_back(p);
  }
  EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), blocks.size());
  EXPECT_LE(pages.size(), 30u);  // 40 in the order of allocation
  for (void* p : blocks) std::free(p);
}

TEST(Rules, PlaceForNew) {
  Rule rule;
  rule.functions = {::operator new, ::operator delete, ::operator delete };
  void* const placed = rule.allocate(1);
  EXPECT_TRUE(tidy_owns(placed));
  ::operator delete(placed, kBytes);
}

TEST(Rules, ServeOnlyIfTheLibraryFrees) {
  const tidy_functions_t others[] = {
      {own_allocate, std::free, nullptr}, {std::malloc, own_release, nullptr},
      {std::malloc, std::free, own_release_sized}, {::operator new, std::free, nullptr},
      {own_allocate, ::operator delete, ::operator delete },
       {
           ::operator new,
           own_release,
           ::operator delete },
           {::operator new, ::operator delete, own_release_sized},
           {::operator new, ::operator delete, nullptr},
           {nullptr, nullptr, nullptr},
      };
  for (const tidy_functions_t& functions : others) {
    Rule rule;
    rule.functions = functions;
    EXPECT_EQ(tidy_reserve(&rule.rule), nullptr);
    EXPECT_EQ(rule.context, nullptr);
  }
}

TEST(Rules, FindTheContextOfAnEqualRule) {
  Rule first;
  Rule again;
  again.rule.identity = first.rule.identity;
  std::free(first.allocate(1));
  std::free(again.allocate(1));
  EXPECT_EQ(first.context, again.context);
  again.is_served = false;
}

TEST(Rules, FollowPointersOnlyToMemoryOfTidy) {
  const Rule neighbours;
  auto* const near = static_cast<uint64_t*>(neighbours.allocate(3));
  near[1] = 8;
  const Rule rule(8);
  void* const placed = rule.allocate(reinterpret_cast<uintptr_t>(near));
  EXPECT_TRUE(tidy_owns(placed));
  const uint64_t bad[] = {0,
                          1,
                          0x7fff'ffff'f000,
                          ~uint64_t{0},
                          ~uint64_t{7},
                          reinterpret_cast<uintptr_t>(near) + 4096,
                          reinterpret_cast<uintptr_t>(near) | 4095};
  for (const uint64_t pointer : bad) {
    void* const p = rule.allocate(pointer);
    EXPECT_TRUE(tidy_owns(p));
    std::free(p);
  }
  std::free(placed);
  std::free(near);
}

TEST(Rules, LeaveObjectsToTheAllocatorIfThereAreTooManyContexts) {
  std::vector<tidy_ctx_t*> all;
  while (tidy_ctx_t* one = tidy_create(nullptr)) all.push_back(one);
  const Rule rule;
  errno = 0;
  EXPECT_EQ(tidy_reserve(&rule.rule), nullptr);
  EXPECT_EQ(errno, 0);
  for (tidy_ctx_t* one : all) tidy_destroy(one);
  EXPECT_EQ(tidy_reserve(&rule.rule), nullptr) << "it does not try again";
}

}  // namespace
