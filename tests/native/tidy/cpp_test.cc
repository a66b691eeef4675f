// The C++ header: containers, resources, scopes and constructors that throw.
#include <gtest/gtest.h>

#include <halo/tidy.hpp>
#include <list>
#include <map>
#include <memory_resource>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

namespace tidy = halo::tidy;

uint64_t live_bytes(const tidy::context& context) {
  tidy_stats_t stats;
  tidy_stats(context.get(), &stats);
  return stats.live_bytes;
}

template <class Container, class Fill>
void fill_and_destroy(const Fill& fill) {
  const tidy::context context;
  {
    Container container;
    for (unsigned i = 0; i < 100; ++i) {
      const tidy::hint_scope scope(context, i);
      fill(container, int(i));
    }
    EXPECT_EQ(container.size(), 100u);
    EXPECT_GT(live_bytes(context), 0u);
  }
  EXPECT_EQ(live_bytes(context), 0u);
}

TEST(Allocator, ServesContainers) {
  using Pair = std::pair<const int, int>;
  const auto push = [](auto& container, int i) { container.push_back(i); };
  const auto insert = [](auto& container, int i) { container.emplace(i, i); };
  fill_and_destroy<std::list<int, tidy::allocator<int>>>(push);
  fill_and_destroy<std::vector<int, tidy::allocator<int>>>(push);
  fill_and_destroy<std::map<int, int, std::less<>, tidy::allocator<Pair>>>(insert);
  fill_and_destroy<
      std::unordered_map<int, int, std::hash<int>, std::equal_to<>, tidy::allocator<Pair>>>(insert);
}

TEST(Allocator, IsMallocOutsideOfScopes) {
  std::vector<int, tidy::allocator<int>> numbers(10);
  EXPECT_FALSE(tidy_owns(numbers.data()));
}

TEST(Scopes, Nest) {
  const tidy::context outer, inner;
  const tidy::hint_scope first(outer, 1);
  {
    const tidy::hint_scope second(inner, {1, 2});
    tidy::allocator<int>().deallocate(tidy::allocator<int>().allocate(1), 1);
    const std::list<int, tidy::allocator<int>> one(1);
    EXPECT_GT(live_bytes(inner), 0u);
    EXPECT_EQ(live_bytes(outer), 0u);
  }
  const std::list<int, tidy::allocator<int>> one(1);
  EXPECT_GT(live_bytes(outer), 0u);
}

TEST(Resource, ServesPmrContainers) {
  const tidy::context context;
  tidy::resource resource(context, 3);
  {
    std::pmr::list<std::pmr::string> words(&resource);
    for (int i = 0; i < 100; ++i) words.emplace_back(40, 'x');
    EXPECT_GE(live_bytes(context), 4000u);
  }
  EXPECT_EQ(live_bytes(context), 0u);
  tidy::resource other(context, 4);
  EXPECT_TRUE(resource.is_equal(other));
  EXPECT_FALSE(resource.is_equal(*std::pmr::new_delete_resource()));
}

struct Thrower {
  explicit Thrower(bool throws) {
    if (throws) throw std::runtime_error("no");
  }
  char bytes[40];
};

TEST(MakeUnique, FreesTheMemoryOfAConstructorThatThrows) {
  const tidy::context context;
  EXPECT_THROW(tidy::make_unique<Thrower>(context, 1, true), std::runtime_error);
  EXPECT_THROW((void)new (context, 1) Thrower(true), std::runtime_error);
  EXPECT_EQ(live_bytes(context), 0u);
  const tidy::unique_ptr<Thrower> object = tidy::make_unique<Thrower>(context, 1, false);
  EXPECT_EQ(live_bytes(context), 40u);
}

struct alignas(64) Wide {
  char bytes[64];
};

TEST(MakeUnique, AlignsWideTypes) {
  const tidy::context context;
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tidy::make_unique<Wide>(context, i).get()) % 64, 0u);
}

struct Left {
  virtual ~Left() = default;
  int left = 1;
};
struct Right {
  virtual ~Right() = default;
  int right = 2;
};
struct Both : Left, Right {};

TEST(MakeUnique, FreesObjectsByTheirBases) {
  const tidy::context context;
  tidy::unique_ptr<Right> object = tidy::make_unique<Both>(context, 1);
  EXPECT_GT(live_bytes(context), 0u);
  object.reset();
  EXPECT_EQ(live_bytes(context), 0u);
  const tidy::unique_ptr<const int> constant(tidy::make_unique<int>(context, 1, 3).release());
  EXPECT_EQ(*constant, 3);
}

TEST(Allocator, EqualsThoseOfOtherTypes) {
  EXPECT_TRUE(tidy::allocator<int>() == tidy::allocator<std::string>());
  EXPECT_FALSE(tidy::allocator<int>() != tidy::allocator<int>());
}

TEST(New, PlacesObjects) {
  const tidy::context context;
  auto* const word = new (context, tidy::hint(1, 2)) std::string(100, 'x');
  EXPECT_TRUE(tidy_owns(word));
#ifdef HAS_EXPORTS
  delete word;
#else
  tidy::destroy(word);
#endif
  EXPECT_EQ(live_bytes(context), 0u);
}

TEST(New, AlignsWideTypes) {
  const tidy::context context;
  for (int i = 0; i < 10; ++i) {
    auto* const wide = new (context, tidy::hint(i)) Wide();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(wide) % 64, 0u);
    tidy::destroy(wide);
  }
}

TEST(Grid, IsAHint) {
  tidy_settings_t settings{};
  settings.dimensions = 2;
  const tidy::context context(settings);
  tidy_free(tidy_alloc(context.get(), 40, tidy_grid2(1.5, -2.5, 0.5)));
}

TEST(Context, ThrowsIfASettingIsWrong) {
  tidy_settings_t settings{};
  settings.dimensions = 9;
  EXPECT_THROW(tidy::context{settings}, std::bad_alloc);
}

}  // namespace
