// A plan that is damaged in any way is refused with a sentence.
#include "plan/plan_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "plan/plan_builder.h"

namespace halo::plan {
namespace {

std::vector<std::byte> good_plan() {
  PlanBuilder builder;
  builder.module(1).module(2).group().group(Reuse::kWholeChunks);
  const uint32_t outer = builder.state(0, 0x1000, kVerdictUndecided);
  builder.state(outer, 0x2000, 1);
  builder.state(outer, 0x3000, kVerdictForward);
  return builder.bytes();
}

template <typename Field>
void poke(std::vector<std::byte>& file, size_t at, Field value) {
  std::memcpy(file.data() + at, &value, sizeof value);
}

constexpr size_t kGroupsAt = sizeof(Header) + 2 * sizeof(Module);
constexpr size_t kStatesAt = kGroupsAt + 2 * sizeof(Group);

TEST(PlanFile, ReadsWrittenPlans) {
  PlanView view;
  const std::vector<std::byte> file = good_plan();
  ASSERT_EQ(validate(file, view), nullptr);
  EXPECT_EQ(view.modules.size(), 2u);
  EXPECT_EQ(view.groups[1].reuse, Reuse::kWholeChunks);
  ASSERT_EQ(view.states.size(), 4u);
  EXPECT_EQ(view.states[2].verdict, 1);
  EXPECT_EQ(view.states[2].offset, 0x2000u);
}

std::string problem_of_spans(uint64_t ring, bool confined, uint64_t density) {
  PlanBuilder builder;
  builder.module(1).group().spans(ring, confined, density);
  builder.state(0, 0x1000, 0);
  return problem_with(builder.bytes());
}

TEST(PlanFile, RingsAndDensitiesHaveLimits) {
  EXPECT_EQ(problem_of_spans(0, false, 0), "");
  EXPECT_EQ(problem_of_spans(kMinRing, true, kMaxDensity), "");
  EXPECT_EQ(problem_of_spans(kMaxRing, false, 1), "");
  for (const uint64_t ring : {uint64_t{0}, kMinRing - 4096, kMaxRing + 4096})
    EXPECT_EQ(problem_of_spans(ring, true, 0), "the plan has a ring of an impossible size");
  EXPECT_EQ(problem_of_spans(kMaxRing + 4096, false, 0),
            "the plan has a ring of an impossible size");
  EXPECT_EQ(problem_of_spans(kMinRing, true, kMaxDensity + 1),
            "the plan has a page with too many lines");
}

TEST(PlanFile, OnlyTheVersionWithSpansHasThem) {
  PlanBuilder builder;
  builder.module(1).group().spans(kMinRing, true);
  builder.state(0, 0x1000, 0);
  std::vector<std::byte> file = builder.bytes();
  poke(file, offsetof(Header, version), kSpanVersion - 1);
  PlanBuilder::seal(file);
  EXPECT_EQ(problem_with(file), "the plan has an unknown flag");
}

TEST(PlanFile, OnlyTheVersionWithDigestsHasThem) {
  PlanBuilder builder;
  builder.module(1).layout(0x12345678).group();
  builder.state(0, 0x1000, 0);
  std::vector<std::byte> file = builder.bytes();
  EXPECT_EQ(problem_with(file), "");
  PlanView view;
  ASSERT_EQ(validate(file, view), nullptr);
  EXPECT_EQ(view.modules[0].layout, 0x12345678u);
  poke(file, offsetof(Header, version), kDigestVersion - 1);
  EXPECT_EQ(problem_with(file), "the plan has an unknown field");
}

TEST(PlanFile, RefusesRulesForHints) {
  PlanBuilder builder;
  builder.module(1).group().spans(0, false);
  builder.state(0, 0x1000, 0);
  const std::vector<std::byte> file = builder.bytes();
  EXPECT_EQ(problem_with(file), "");
  std::vector<std::byte> changed = file;
  poke<uint32_t>(changed, sizeof(Header) + offsetof(HintCounts, rules), 1);
  PlanBuilder::seal(changed);
  EXPECT_EQ(problem_with(changed),
            "the plan has rules for hints, which this runtime does not serve");
  changed = file;
  poke<uint32_t>(changed, sizeof(Header) + offsetof(HintCounts, keys), 1);
  PlanBuilder::seal(changed);
  EXPECT_EQ(problem_with(changed), "the plan has an unknown field");
}

TEST(PlanFile, RefusesEveryTruncation) {
  const std::vector<std::byte> file = good_plan();
  for (size_t size = 0; size < file.size(); ++size)
    EXPECT_NE(problem_with({file.begin(), file.begin() + static_cast<ptrdiff_t>(size)}), "")
        << size;
}

TEST(PlanFile, RefusesEveryFlippedBitOfTheBody) {
  const std::vector<std::byte> file = good_plan();
  for (size_t bit = sizeof(Header) * 8; bit < file.size() * 8; ++bit) {
    std::vector<std::byte> damaged = file;
    damaged[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_EQ(problem_with(damaged), "the plan is damaged") << bit;
  }
}

TEST(PlanFile, NamesANewerVersion) {
  std::vector<std::byte> file = good_plan();
  poke(file, offsetof(Header, version), kVersion + 1);
  EXPECT_EQ(problem_with(file), "the plan is of a newer version than this runtime reads");
}

TEST(PlanFile, RefusesAnExecutableThatItLacks) {
  std::vector<std::byte> file = good_plan();
  poke(file, offsetof(Header, executable), 2u);
  EXPECT_EQ(problem_with(file), "");
  poke(file, offsetof(Header, executable), 3u);
  EXPECT_EQ(problem_with(file), "the plan is for a module it lacks");
}

std::vector<std::byte> plan_of_random_pools() {
  PlanBuilder builder;
  builder.module(1).group().group();
  builder.at(0).verdict = kVerdictForward;
  std::vector<std::byte> file = builder.bytes();
  poke<uint32_t>(file, offsetof(Header, flags), kHeaderRandomPools);
  poke<uint32_t>(file, offsetof(Header, executable), 1);
  return file;
}

TEST(PlanFile, ReadsRandomPools) {
  PlanView view;
  const std::vector<std::byte> file = plan_of_random_pools();
  ASSERT_EQ(validate(file, view), nullptr);
  EXPECT_TRUE(view.draws_pools());
  const std::vector<std::byte> other = good_plan();
  ASSERT_EQ(validate(other, view), nullptr);
  EXPECT_FALSE(view.draws_pools());
}

TEST(PlanFile, RefusesRandomPoolsWithCallers) {
  std::vector<std::byte> file = good_plan();
  poke<uint32_t>(file, offsetof(Header, flags), kHeaderRandomPools);
  EXPECT_EQ(problem_with(file), "the plan draws groups at random and has states");
  file = plan_of_random_pools();
  poke<uint32_t>(file, offsetof(Header, executable), 0);
  EXPECT_EQ(problem_with(file), "the plan draws groups at random and names modules");
  file = plan_of_random_pools();
  const size_t root = file.size() - sizeof(State);
  poke<uint16_t>(file, root + offsetof(State, alignment), 32);
  PlanBuilder::seal(file);
  EXPECT_EQ(problem_with(file), "the plan requires an impossible alignment");
  PlanBuilder nothing;
  nothing.at(0).verdict = kVerdictForward;
  file = nothing.bytes();
  poke<uint32_t>(file, offsetof(Header, flags), kHeaderRandomPools);
  EXPECT_EQ(problem_with(file), "the plan draws from groups that it lacks");
}

std::vector<std::byte> plan_of_selectors() {
  PlanBuilder builder;
  builder.module(1).module(2).group().group();
  const uint16_t sites[] = {builder.site(0x1005, 16), builder.site(0x2005, 0, 1)};
  builder.conjunction(1, sites).conjunction(0, std::span(sites).first(1));
  return builder.bytes();
}
constexpr size_t kSitesAt = kStatesAt + sizeof(State);
constexpr size_t kConjunctionsAt = kSitesAt + 2 * sizeof(Site);

TEST(PlanFile, ReadsSelectors) {
  PlanView view;
  const std::vector<std::byte> file = plan_of_selectors();
  ASSERT_EQ(validate(file, view), nullptr);
  EXPECT_TRUE(view.selects());
  ASSERT_EQ(view.sites.size(), 2u);
  EXPECT_EQ(view.sites[1].module, 1u);
  ASSERT_EQ(view.conjunctions.size(), 2u);
  EXPECT_EQ(view.conjunctions[0].count, 2);
  EXPECT_EQ(view.conjunctions[1].group, 0);
}

TEST(PlanFile, RefusesEveryTruncationOfSelectors) {
  const std::vector<std::byte> file = plan_of_selectors();
  for (size_t size = 0; size < file.size(); ++size)
    EXPECT_NE(problem_with({file.begin(), file.begin() + static_cast<ptrdiff_t>(size)}), "")
        << size;
}

template <typename Field>
std::string problem_of_selectors(size_t at, Field value) {
  std::vector<std::byte> file = plan_of_selectors();
  poke(file, at, value);
  PlanBuilder::seal(file);
  return problem_with(file);
}

TEST(PlanFile, RefusesSelectorsThatContradictThemselves) {
  const auto in_site = [](size_t field) { return kSitesAt + field; };
  const auto in_conjunction = [](size_t field) { return kConjunctionsAt + field; };
  EXPECT_EQ(problem_of_selectors(offsetof(Header, flags), 0u), "the plan has an unknown field");
  EXPECT_EQ(problem_of_selectors(offsetof(Header, flags), kHeaderSelectors | kHeaderRandomPools),
            "the plan has selectors and draws groups at random");
  EXPECT_EQ(problem_of_selectors(kStatesAt + offsetof(State, verdict), uint16_t{0}),
            "the plan decides before it has seen a caller");
  EXPECT_EQ(problem_of_selectors(kStatesAt + offsetof(State, verdict), kVerdictUndecided),
            "the plan has selectors and states");
  EXPECT_EQ(problem_of_selectors(in_site(offsetof(Site, module)), uint32_t{2}),
            "the plan names a module it lacks");
  EXPECT_EQ(problem_of_selectors(in_site(offsetof(Site, flags)), 2u),
            "the plan has an unknown flag");
  EXPECT_EQ(problem_of_selectors(in_site(offsetof(Site, reserved)), 1u),
            "the plan has an unknown field");
  EXPECT_EQ(problem_of_selectors(in_site(offsetof(Site, flags)), 1u), "");
  EXPECT_EQ(problem_of_selectors(in_site(offsetof(Site, offset)), uint64_t{4}),
            "the plan names an address that no program has");
  EXPECT_EQ(problem_of_selectors(in_site(offsetof(Site, offset)), kMaxOffset),
            "the plan names an address that no program has");
  for (const uint32_t step : {4u, (1u << 20) + 8, 0x80000000u})
    EXPECT_EQ(problem_of_selectors(in_site(offsetof(Site, step)), step),
              "the plan has a step that leads nowhere");
  EXPECT_EQ(problem_of_selectors(in_conjunction(offsetof(Conjunction, group)), uint16_t{2}),
            "the plan names a group it lacks");
  for (const uint16_t alignment : std::initializer_list<uint16_t>{4, 12, 24, 32})
    EXPECT_EQ(problem_of_selectors(in_conjunction(offsetof(Conjunction, alignment)), alignment),
              "the plan requires an impossible alignment");
  for (const uint16_t count : std::initializer_list<uint16_t>{0, 13, 0xFFFF})
    EXPECT_EQ(problem_of_selectors(in_conjunction(offsetof(Conjunction, count)), count),
              "the plan has a conjunction of no sites, or of too many");
  for (const uint16_t count : std::initializer_list<uint16_t>{1, 3})
    EXPECT_EQ(problem_of_selectors(in_conjunction(offsetof(Conjunction, count)), count),
              "the plan names a call site it lacks");
  EXPECT_EQ(problem_of_selectors(in_conjunction(offsetof(Conjunction, sites)), uint16_t{2}),
            "the plan names a call site it lacks");
  EXPECT_EQ(problem_of_selectors(in_conjunction(offsetof(Conjunction, reserved)), uint16_t{1}),
            "the plan has an unknown field");
}

TEST(PlanFile, RefusesAForeignFile) {
  EXPECT_EQ(problem_with(std::vector<std::byte>(4096, std::byte{'x'})), "the file is not a plan");
}

TEST(PlanFile, RefusesMissingGroups) {
  std::vector<std::byte> file = good_plan();
  poke<uint16_t>(file, kStatesAt + 2 * sizeof(State) + offsetof(State, verdict), 2);
  PlanBuilder::seal(file);
  EXPECT_EQ(problem_with(file), "the plan names a group it lacks");
}

TEST(PlanFile, RefusesStatesThatAreTheirOwnAncestors) {
  std::vector<std::byte> file = good_plan();
  poke<uint32_t>(file, kStatesAt + 1 * sizeof(State) + offsetof(State, parent), 1);
  PlanBuilder::seal(file);
  EXPECT_EQ(problem_with(file), "the plan's states are out of order");
}

TEST(PlanFile, RefusesAStepThatDoesNotLeadOutwards) {
  for (const int32_t step : {0, -16, 4, 12, (1 << 20) + 8}) {
    std::vector<std::byte> file = good_plan();
    poke<int32_t>(file, kStatesAt + 1 * sizeof(State) + offsetof(State, step), step);
    PlanBuilder::seal(file);
    EXPECT_EQ(problem_with(file), "the plan has a step that leads nowhere") << step;
  }
}

TEST(PlanFile, RefusesAnAddressThatNoProgramHas) {
  for (const uint64_t offset : {1ull << 47, 1ull << 48 | 16, ~0ull}) {
    std::vector<std::byte> file = good_plan();
    poke(file, kStatesAt + 1 * sizeof(State) + offsetof(State, offset), offset);
    PlanBuilder::seal(file);
    EXPECT_EQ(problem_with(file), "the plan names an address that no program has") << offset;
  }
}

TEST(PlanFile, RefusesARegisterSavedOutsideItsFrame) {
  for (const int below : {0, -8, 4, 16, 24}) {
    std::vector<std::byte> file = good_plan();
    const size_t state = kStatesAt + 1 * sizeof(State);
    poke<int32_t>(file, state + offsetof(State, step), 16);
    poke<uint8_t>(file, state + offsetof(State, flags), kStateRestoresRbp);
    poke(file, state + offsetof(State, rbp_below), static_cast<int16_t>(below));
    PlanBuilder::seal(file);
    EXPECT_EQ(problem_with(file), "the plan restores a register from nowhere") << below;
  }
}

std::string problem_of_layout(uint32_t flags, uint64_t starts,
                              uint32_t in_version = kLayoutVersion) {
  std::vector<std::byte> file = good_plan();
  poke(file, offsetof(Header, version), in_version);
  poke(file, kGroupsAt + offsetof(Group, flags), flags);
  poke(file, kGroupsAt + offsetof(Group, starts), starts);
  PlanBuilder::seal(file);
  return problem_with(file);
}

TEST(PlanFile, RefusesImpossibleLayoutsOfPages) {
  constexpr uint32_t kMasked = kGroupBySize | kGroupMasked, kWay = 12 << kGroupWayBit;
  EXPECT_EQ(problem_of_layout(kMasked | kWay, 1), "");
  EXPECT_EQ(problem_of_layout(kGroupBySize | kGroupPacked, 0), "");
  EXPECT_EQ(problem_of_layout(kGroupBySize | kGroupLineStart, 0), "");
  EXPECT_EQ(problem_of_layout(kMasked | kGroupLineStart | kWay, 1), "");
  EXPECT_EQ(problem_of_layout(kGroupBySize | kGroupPacked | kGroupLineStart, 0),
            "the plan has two layouts for a group");
  EXPECT_EQ(problem_of_layout(kMasked | kGroupStepping | kWay, 1), "");
  EXPECT_EQ(problem_of_layout(kGroupBySize | kGroupStepping, 0),
            "the plan has a group that steps without a mask");
  EXPECT_EQ(problem_of_layout(kGroupBySize | kGroupPacked | kGroupStepping, 0),
            "the plan has a group that steps without a mask");
  EXPECT_EQ(problem_of_layout(kMasked | kGroupPacked | kGroupStepping | kWay, 1),
            "the plan has two layouts for a group");
  EXPECT_EQ(problem_of_layout(kMasked | kGroupLineStart | kGroupStepping | kWay, 1),
            "the plan has two layouts for a group");
  EXPECT_EQ(problem_of_layout(kMasked | kGroupStepping | kWay, 1, 3),
            "the plan has an unknown flag");
  EXPECT_EQ(problem_of_layout(kMasked | 64 | kWay, 1), "the plan has an unknown flag");
  EXPECT_EQ(problem_of_layout(kMasked | kWay, 1, 3), "the plan has an unknown flag");
  EXPECT_EQ(problem_of_layout(kMasked | kWay, 0),
            "the plan has a group whose blocks may start nowhere");
  for (const uint32_t shift : {0u, 11u, 17u, 255u})
    EXPECT_EQ(problem_of_layout(kMasked | shift << kGroupWayBit, 1),
              "the plan has a way of an impossible size");
  EXPECT_EQ(problem_of_layout(kMasked | kGroupPacked | kWay, 1),
            "the plan has two layouts for a group");
  EXPECT_EQ(problem_of_layout(kGroupMasked | kWay, 1),
            "the plan has a layout of single-size pages for a group without them");
  EXPECT_EQ(problem_of_layout(kGroupPacked, 0),
            "the plan has a layout of single-size pages for a group without them");
  EXPECT_EQ(problem_of_layout(kGroupBySize | kWay, 0), "the plan has an unknown field");
  EXPECT_EQ(problem_of_layout(kGroupBySize | kGroupPacked, 1), "the plan has an unknown field");
}

TEST(PlanFile, RefusesUnknownFlagsAndFields) {
  const size_t modules_at = sizeof(Header);
  const auto refused = [](size_t at, uint8_t value, std::string_view problem) {
    std::vector<std::byte> file = good_plan();
    poke(file, at, value);
    PlanBuilder::seal(file);
    EXPECT_EQ(problem_with(file), problem) << at;
  };
  for (const size_t at :
       {offsetof(Header, flags), kGroupsAt + offsetof(Group, flags) + 2,
        kStatesAt + offsetof(State, flags), kStatesAt + sizeof(State) + offsetof(State, flags)})
    refused(at, 8, "the plan has an unknown flag");
  for (const size_t at :
       {offsetof(Header, sites), offsetof(Header, conjunctions) + 3,
        modules_at + offsetof(Module, layout), kGroupsAt + offsetof(Group, starts) + 7,
        kStatesAt + offsetof(State, reserved)})
    refused(at, 1, "the plan has an unknown field");
}

std::vector<std::byte> plan_with_checked_modules() {
  const Relaxation relaxations[] = {{0x1234, 0x28, 0x10, 0, 0}, {0x2345, 0x66, 0xF3, 0, 0}};
  PlanBuilder builder;
  builder.module(1).group().checked(1, relaxations).checked(2);
  return builder.bytes();
}

TEST(PlanFile, ReadsCheckedModules) {
  PlanView view;
  const std::vector<std::byte> file = plan_with_checked_modules();
  ASSERT_EQ(validate(file, view), nullptr);
  ASSERT_EQ(view.checked_modules.size(), 2u);
  EXPECT_EQ(view.checked_modules[0].relaxations, 2u);
  EXPECT_EQ(view.relaxations[1].offset, 0x2345u);
  EXPECT_EQ(view.relaxations[1].after, 0xF3);
}

TEST(PlanFile, RefusesCheckedModulesThatContradictThemselves) {
  const size_t checked_at = sizeof(Header) + sizeof(Module) + sizeof(Group) + sizeof(State);
  const size_t relaxations_at = checked_at + 2 * sizeof(CheckedModule);
  const auto problem = [](size_t at, uint64_t value) {
    std::vector<std::byte> file = plan_with_checked_modules();
    poke(file, at, value);
    PlanBuilder::seal(file);
    return problem_with(file);
  };
  // Lengths and counts are halves of these words.
  EXPECT_EQ(problem(checked_at + 32, 20 | uint64_t{1} << 32),
            "the plan's relaxations are of no module");
  EXPECT_EQ(problem(checked_at + 32, 20 | uint64_t{3} << 32),
            "the plan's relaxations are of no module");
  EXPECT_EQ(problem(checked_at + 32, 33 | uint64_t{2} << 32),
            "the plan has a module without a build-id");
  EXPECT_EQ(problem(checked_at + 40, 1), "the plan has an unknown field");
  EXPECT_EQ(problem(relaxations_at, kMaxOffset), "the plan names an address that no program has");
  EXPECT_EQ(problem(relaxations_at + 8, 0x1000028), "the plan has an unknown field");
}

TEST(PlanFile, OlderVersionsHaveNoCheckedModules) {
  std::vector<std::byte> file = good_plan();
  poke(file, offsetof(Header, version), 1u);
  EXPECT_EQ(problem_with(file), "");
  file = plan_with_checked_modules();
  poke(file, offsetof(Header, version), 1u);
  EXPECT_EQ(problem_with(file), "the plan has an unknown field");
}

TEST(PlanFile, ChecksumIsZlibs) {
  const char text[] = "123456789";  // the check value of CRC-32
  EXPECT_EQ(base::crc32(std::as_bytes(std::span(text, 9))), 0xCBF43926u);
}

TEST(PlanFile, LoadsAFileAndRefusesAMissingOne) {
  char path[] = "/tmp/halo-plan-XXXXXX";
  const int fd = mkstemp(path);
  const std::vector<std::byte> file = good_plan();
  ASSERT_EQ(write(fd, file.data(), file.size()), static_cast<ssize_t>(file.size()));
  close(fd);
  PlanView view;
  EXPECT_EQ(load_plan(path, view), nullptr);
  EXPECT_EQ(view.groups.size(), 2u);
  unlink(path);
  EXPECT_STREQ(load_plan(path, view), "the plan cannot be opened");
  EXPECT_STREQ(load_plan("/", view), "the plan is not a file");
}

}  // namespace
}  // namespace halo::plan
