// The listener for modules: it receives all at the start, and later the ones loaded since the last
// scan.
#include "runtime/modules/modules.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "plan/plan_builder.h"
#include "runtime/base/active_plan.h"
#include "runtime/code/alignment.h"
#include "runtime/identify/identifier.h"
#include "runtime/modules/linker.h"

// Called by the library's constructor.
extern "C" bool modules_test_in_linker() {
  return halo::runtime::is_in_linker(halo::runtime::own_thread());
}

namespace halo::runtime {
namespace {

std::vector<std::string> reported;

void record(const dl_phdr_info& module) { reported.emplace_back(module.dlpi_name); }

std::vector<std::string> reported_by(const auto& look) {
  reported.clear();
  look();
  return reported;
}

bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::any_of(names, [&](const auto& each) { return each.ends_with(name); });
}

// Of the test's module, with blocks at multiples of eight.
void load_plan() {
  plan::PlanBuilder builder;
  builder.module(1).group().state(0, 0x10, 0, 0, plan::Rule::kEnd);
  static const auto bytes = builder.bytes();
  ASSERT_EQ(plan::validate(bytes, active_plan), nullptr);
  all_to_16 = false;
  find_linker();
}

// Before other tests of the table, which a process publishes once.
TEST(Modules, AreReportedOnceForEachLoad) {
  load_plan();
  set_loaded_listener(record);
  const auto at_start = reported_by([&] { EXPECT_EQ(publish_table(), 0u); });
  EXPECT_TRUE(is_among(at_start, "libc.so.6"));
  EXPECT_FALSE(is_among(at_start, "runtime-test-module.so"));
  const auto look = [] { inspect_modules(own_thread()); };
  EXPECT_TRUE(reported_by(look).empty());
  for (int round = 0; round < 3; ++round) {
    void* handle = dlopen(MODULE, RTLD_NOW);
    ASSERT_NE(handle, nullptr) << dlerror();
    const auto names = reported_by(look);
    EXPECT_EQ(names.size(), 1u);
    EXPECT_TRUE(is_among(names, "runtime-test-module.so"));
    EXPECT_TRUE(reported_by(look).empty());
    dlclose(handle);
    if (round == 0) {
      EXPECT_TRUE(reported_by(look).empty());
    }
  }
}

bool has_aligned(const Table& table) {
  return std::all_of(table.placed, table.placed + table.module_count, [](const Placed& placed) {
    return verdict_of(placed.code, 0).alignment == 16;
  });
}

// As a handler of a signal does that has interrupted a change of modules.
void align_during_a_change(uint32_t, ModulePlace place) {
  alarm(20);
  if (!place.present) align_table_to_16();
}

TEST(Modules, AreAlignedAtTheEndOfAChangeThatIsInterrupted) {
  if (!follows_modules()) {
    load_plan();
    publish_table();
  }
  const Table& table = *__atomic_load_n(&current_table, __ATOMIC_ACQUIRE);
  void* handle = dlopen(MODULE, RTLD_NOW);
  ASSERT_NE(handle, nullptr) << dlerror();
  inspect_modules(own_thread());
  recognise_expected();
  EXPECT_FALSE(has_aligned(table));
  set_place_listener(align_during_a_change);
  dlclose(handle);
  inspect_modules(own_thread());
  set_place_listener(nullptr);
  EXPECT_TRUE(has_aligned(table));
}

TEST(Linker, IsLeftAndNotMappingHere) {
  find_linker();
  EXPECT_FALSE(is_in_linker(own_thread()));
  EXPECT_FALSE(is_mapping_modules());
  EXPECT_NE(linker_bias(), 0u);
}

TEST(Linker, FindsRegisteredModules) {
  find_linker();
  void* handle = dlopen(MODULE, RTLD_NOW);
  ASSERT_NE(handle, nullptr) << dlerror();
  Dl_info info;
  ASSERT_NE(dladdr(dlsym(handle, "nothing"), &info), 0);
  const auto start = reinterpret_cast<uintptr_t>(info.dli_fbase);
  EXPECT_TRUE(is_registered(start));
  EXPECT_FALSE(is_registered(start + 4096));
  dlclose(handle);
  EXPECT_FALSE(is_registered(start));
}

TEST(Linker, IsSeenToBeEnteredByItsOwner) {
  find_linker();
  void* handle = dlopen(MODULE, RTLD_NOW);
  ASSERT_NE(handle, nullptr) << dlerror();
  EXPECT_TRUE(*static_cast<bool*>(dlsym(handle, "constructed_in_linker")));
  dlclose(handle);
}

}  // namespace
}  // namespace halo::runtime
