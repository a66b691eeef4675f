// The detector's file is read exactly, and refused with a sentence if it is damaged in any way.
#include "studies/litter/distribution.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <string>
#include <tuple>

#include "studies/litter/requests.h"
#include "studies/litter/sample.h"

namespace halo::litter {
namespace {

// Counts by group and size.
using Kinds = std::map<std::pair<uint32_t, uint32_t>, uint64_t>;

Kinds kinds_of(const Distribution& distribution) {
  Kinds result;
  for (const Kind& kind : distribution.kinds) {
    EXPECT_NE(kind.count, 0u);
    result[{kind.group, kind.size}] += kind.count;
  }
  return result;
}

std::string problem_at(const char* path, bool by_group = false) {
  Distribution result;
  Requests requests;
  const char* problem = read_distribution(path, by_group, result);
  EXPECT_EQ(requests.sizes.size(), 0u);
  EXPECT_EQ(result.kinds.size() == 0, problem != nullptr);
  return problem == nullptr ? "" : problem;
}

std::string problem_with(const std::string& text, bool by_group = false) {
  return problem_at(File(text).path(), by_group);
}

Sample good() {
  Sample sample;
  sample.size(0, 2).size(1, 3).size(16, 40).size(4095, 1).size(4096, 5).size(4097, 1);
  sample.size(1'000'000, 3);
  sample.max_live = 50;
  sample.groups = {{{16, 30}, {4096, 5}}, {}, {{0, 1}, {16, 10}, {4097, 4}}};
  return sample;
}

// The sample's text with the first `from` replaced by `to`.
std::string edited(const std::string& from, const std::string& to) {
  std::string text = good().text();
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

constexpr uint32_t kMeanOfLarger = (4097 + 3'000'000) / 4;
constexpr const char* kDamaged = "is damaged: run the detector again";
constexpr const char* kForeign = "is not a detector's output";

TEST(Distribution, MergesGroups) {
  const File file(good().text());
  Distribution found;
  ASSERT_EQ(read_distribution(file.path(), false, found), nullptr);
  EXPECT_EQ(found.allocations, 55u);
  EXPECT_EQ(found.max_live, 50u);
  EXPECT_EQ(found.groups, 3u);
  const Kinds expected{{{kNoGroup, 0}, 2},    {{kNoGroup, 1}, 3},
                       {{kNoGroup, 16}, 40},  {{kNoGroup, 4095}, 1},
                       {{kNoGroup, 4096}, 5}, {{kNoGroup, kMeanOfLarger}, 4}};
  EXPECT_EQ(kinds_of(found), expected);
}

TEST(Distribution, SeparatesGroups) {
  const File file(good().text());
  Distribution found;
  ASSERT_EQ(read_distribution(file.path(), true, found), nullptr);
  const Kinds expected{{{kNoGroup, 0}, 1}, {{kNoGroup, 1}, 3},     {{kNoGroup, 4095}, 1},
                       {{0, 16}, 30},      {{0, 4096}, 5},         {{2, 0}, 1},
                       {{2, 16}, 10},      {{2, kMeanOfLarger}, 4}};
  EXPECT_EQ(kinds_of(found), expected);
  EXPECT_EQ(found.allocations, 55u);
}

TEST(Distribution, FreesAllMemory) {
  const File file(good().text());
  Requests requests;
  {
    Distribution found;
    ASSERT_EQ(read_distribution(file.path(), true, found), nullptr);
    EXPECT_GT(requests.mapped, 0u);
  }
  EXPECT_EQ(requests.mapped, 0u);
  EXPECT_TRUE(requests.sound);
  EXPECT_TRUE(requests.sizes.empty());
}

TEST(Distribution, MeansOfHugeObjectsStayRepresentable) {
  Sample sample;
  sample.size(size_t{1} << 40, 2).max_live = 1;
  const File file(sample.text());
  Distribution found;
  ASSERT_EQ(read_distribution(file.path(), false, found), nullptr);
  ASSERT_EQ(found.kinds.size(), 1u);
  EXPECT_EQ(found.kinds[0].size, UINT32_MAX);
}

TEST(Distribution, RefusesEveryTruncation) {
  const std::string whole = good().text();
  const size_t end = whole.size() - 1;  // the last brace; a newline follows
  for (size_t size = 1; size < end; size += size < 200 || size + 200 > end ? 1 : 97)
    EXPECT_EQ(problem_with(whole.substr(0, size)), "is cut short: run the detector again") << size;
  EXPECT_EQ(problem_with(whole.substr(0, end)), "");
}

// No change of a byte may cause a crash or an impossible result.
TEST(Distribution, SurvivesEveryChangedByte) {
  const std::string whole = good().text();
  for (size_t at = 0; at < whole.size(); at += at < 200 || at + 200 > whole.size() ? 1 : 61) {
    for (const char other : {'0', '9', '"', ',', ':', '[', '}', ' ', '\0'}) {
      std::string text = whole;
      text[at] = other;
      Distribution found;
      const File file(text);
      if (read_distribution(file.path(), true, found) != nullptr) continue;
      uint64_t sum = 0;
      for (const Kind& kind : found.kinds) sum += kind.count;
      EXPECT_EQ(sum, found.allocations) << at << other;
      EXPECT_LE(found.max_live, found.allocations) << at << other;
    }
  }
}

TEST(Distribution, RefusesOtherFiles) {
  for (const char* text : {"{}", "[1, 2]", "{\"format\": \"halo-profile\", \"version\": 1}",
                           "hello", "{\"format\": 1}", "12", "\"halo-detector\"", "}",
                           "\x7f"
                           "ELF"})
    EXPECT_EQ(problem_with(text), kForeign) << text;
  EXPECT_EQ(problem_with(""), "is empty: run the detector again");
}

TEST(Distribution, NamesANewerVersion) {
  EXPECT_EQ(problem_with(edited("\"version\": 1", "\"version\": 2")),
            "is of a newer version: update halo");
  EXPECT_EQ(problem_with("{\"format\": \"halo-detector\", \"version\": 3}"),
            "is of a newer version: update halo");
  EXPECT_EQ(problem_with(edited("\"version\": 1", "\"version\": \"1\"")), kDamaged);
}

TEST(Distribution, RefusesNumbersThatDoNotAddUp) {
  EXPECT_EQ(problem_with(edited("\"allocations\": 55", "\"allocations\": 56")), kDamaged);
  EXPECT_EQ(problem_with(edited("[2,3,0", "[2,4,0")), kDamaged);
  EXPECT_EQ(problem_with(edited("[2,3,0", "[2,3,0,0")), kDamaged) << "one bin too many";
  EXPECT_EQ(problem_with(edited(",4],", ",4,0],")), kDamaged) << "one bin too many, at the end";
  EXPECT_EQ(problem_with(edited("[2,3,0", "[2,3")), kDamaged) << "one bin too few";
  EXPECT_EQ(problem_with(edited("allocations\": 50", "allocations\": 56")), kDamaged);
  EXPECT_EQ(problem_with(edited("\"larger_bytes\": 3004097", "\"larger_bytes\": 16387")), kDamaged);
  EXPECT_EQ(problem_with(edited("\"larger_bytes\": 3004097", "\"larger_bytes\": 16388")), "");
}

TEST(Distribution, RefusesInvalidNumbers) {
  for (const char* number :
       {"18446744073709551616", "18446744073709551671", "99999999999999999999999", "-55", "55.5",
        "5e1", "null", "\"55\"", "[55]", "{}", "0x37"})
    EXPECT_EQ(
        problem_with(edited("\"allocations\": 55", "\"allocations\": " + std::string(number))),
        kDamaged)
        << number;
  // Counts that overflow to the right sum.
  EXPECT_EQ(problem_with(edited("[2,3,0", "[2,18446744073709551615,4")), kDamaged);
}

TEST(Distribution, RefusesMissingMembers) {
  for (const char* name :
       {"version", "allocations", "max_live_allocations", "larger_bytes", "bins", "groups"})
    EXPECT_EQ(problem_with(edited("\"" + std::string(name) + "\"", "\"other\"")), kDamaged) << name;
}

TEST(Distribution, RefusesGroupsThatExceedTheTotals) {
  EXPECT_EQ(problem_with(edited("[16, 30]", "[16, 31]"), true), kDamaged);
  EXPECT_EQ(problem_with(edited("[16, 30]", "[4098, 0]"), true), kDamaged);
  EXPECT_EQ(problem_with(edited("[16, 30]", "[16, 30, 1]"), true), kDamaged);
  EXPECT_EQ(problem_with(edited("[4097, 4]", "[4097, 4, 1]"), true), kDamaged) << "the last";
  EXPECT_EQ(problem_with(edited("[16, 30]", "[16]"), true), kDamaged);
  EXPECT_EQ(problem_with(edited("[16, 30]", "16"), true), kDamaged);
  EXPECT_EQ(problem_with(edited("[16, 30]", "[16, -1]"), true), kDamaged);
  EXPECT_EQ(problem_with(edited("[16, 30]", "[16, 29]"), true), "") << "some of no group";
}

TEST(Distribution, RefusesDirectories) {
  EXPECT_EQ(problem_at("/nowhere/detector.out"), "does not exist: run the detector first");
  EXPECT_EQ(problem_at("/tmp"), "is not a regular file");
  EXPECT_EQ(problem_at("/dev/null"), "is not a regular file");
  const File file("x");
  unlink(file.path());
  ASSERT_EQ(mkfifo(file.path(), 0600), 0);
  EXPECT_EQ(problem_at(file.path()), "is not a regular file") << "and opening it does not block";
}

}  // namespace
}  // namespace halo::litter
