// Littering leaves the recorded distribution, at the occupancy, in the order of the seed.
#include <gtest/gtest.h>

#include <cerrno>
#include <cmath>

#include "studies/litter/requests.h"
#include "studies/litter/sample.h"

namespace halo::litter {
namespace {

// Common and rare sizes, including the smallest and largest.
Sample recorded() {
  Sample sample;
  sample.size(0, 700).size(1, 13).size(16, 60'000).size(24, 30'000).size(48, 3).size(100, 5000);
  sample.size(4095, 20).size(4096, 21).size(5000, 30).size(7000, 10).max_live = 1777;
  return sample;
}

// The sizes as littering uses them: larger ones are represented by their mean.
std::map<size_t, double> shares_of(const Sample& sample) {
  std::map<size_t, double> result;
  const auto all = static_cast<double>(sample.allocations());
  for (size_t i = 0; i < kLargerClass; ++i)
    if (sample.bins[i] != 0) result[i] = static_cast<double>(sample.bins[i]) / all;
  if (const uint64_t larger = sample.bins[kLargerClass]; larger != 0)
    result[sample.larger_bytes / larger] = static_cast<double>(larger) / all;
  return result;
}

struct Case {
  double occupancy, multiplier;
  int shuffle;
};

class Littering : public testing::TestWithParam<Case> {
 protected:
  Littering() : file_(sample_.text()), settings_(settings_for(file_)) {
    settings_.occupancy = GetParam().occupancy;
    settings_.multiplier = GetParam().multiplier;
    settings_.shuffle = GetParam().shuffle;
  }

  const Sample sample_ = recorded();
  const File file_;
  halo_litter_settings settings_;
  halo_litter_report report_;
};

TEST_P(Littering, KeepsTheDistributionAndTheOccupancy) {
  Requests requests;
  ASSERT_EQ(halo_litter(&settings_, &report_), HALO_LITTERED) << report_.problem;
  const auto objects = static_cast<size_t>(std::lround(1777 * settings_.multiplier));
  const double kept = settings_.occupancy * static_cast<double>(objects);
  ASSERT_EQ(requests.sizes.size(), objects);
  EXPECT_NEAR(static_cast<double>(objects - requests.freed.size()), kept, 0.5);
  auto made = requests.made();
  auto live = requests.live();
  for (const auto& [size, share] : shares_of(sample_)) {
    const auto count = static_cast<double>(made[size]);
    EXPECT_NEAR(count, share * static_cast<double>(objects), 1) << size;
    // Relative to the allocated objects, so within two of its share of all kept ones.
    EXPECT_NEAR(static_cast<double>(live[size]), count * settings_.occupancy, 1.001) << size;
    made.erase(size);
    live.erase(size);
  }
  EXPECT_TRUE(made.empty()) << "sizes that the program never requested";
  EXPECT_TRUE(live.empty());
  EXPECT_TRUE(requests.sound);
}

TEST_P(Littering, ReportsItsWork) {
  Requests requests;
  ASSERT_EQ(halo_litter(&settings_, &report_), HALO_LITTERED);
  size_t bytes = 0, kept_bytes = 0;
  for (const size_t size : requests.sizes) bytes += size;
  for (const auto& [size, count] : requests.live()) kept_bytes += size * count;
  EXPECT_EQ(report_.objects, requests.sizes.size());
  EXPECT_EQ(report_.kept, requests.sizes.size() - requests.freed.size());
  EXPECT_EQ(report_.bytes, bytes);
  EXPECT_EQ(report_.kept_bytes, kept_bytes);
  EXPECT_EQ(report_.grouped, 0u);
  EXPECT_GE(report_.seconds, 0);
  EXPECT_STREQ(report_.problem, "");
}

TEST_P(Littering, TakesLittleMemoryOfItsOwn) {
  Requests requests;
  ASSERT_EQ(halo_litter(&settings_, &report_), HALO_LITTERED);
  EXPECT_LE(report_.own_bytes, 16 * report_.objects);
  EXPECT_EQ(requests.mapped, 0u) << "all of it is freed";
  // Reading the file takes some more, whatever the number of objects.
  EXPECT_LE(requests.max_mapped, report_.own_bytes + 512 * 1024);
  EXPECT_GE(requests.max_mapped, report_.own_bytes);
}

TEST_P(Littering, DependsOnItsSeedOnly) {
  const auto sequence = [this](uint64_t seed) {
    Requests requests;
    settings_.seed = seed;
    EXPECT_EQ(halo_litter(&settings_, &report_), HALO_LITTERED);
    return std::pair(requests.sizes, requests.freed);
  };
  const auto first = sequence(11);
  EXPECT_EQ(sequence(11), first);
  EXPECT_NE(sequence(12).first, first.first);
  const size_t gone = first.second.size();
  if (settings_.shuffle != 0 && gone > 10) {
    EXPECT_NE(sequence(12).second, first.second);
  }
}

TEST_P(Littering, FreesAnywhereOrTheLast) {
  Requests requests;
  ASSERT_EQ(halo_litter(&settings_, &report_), HALO_LITTERED);
  const size_t objects = requests.sizes.size(), gone = requests.freed.size();
  std::vector<size_t> last;
  for (size_t i = 1; i <= gone; ++i) last.push_back(objects - i);
  if (settings_.shuffle == 0) {
    EXPECT_EQ(requests.freed, last);
  } else if (gone > 10) {
    EXPECT_NE(requests.freed, last);
  }
}

// Freed objects are spread evenly among the kept ones, in random order.
TEST(LitteringShuffled, SpreadsFreedObjects) {
  const File file(recorded().text());
  halo_litter_settings settings = settings_for(file);
  settings.occupancy = 0.5;
  settings.multiplier = 10;
  halo_litter_report report;
  Requests requests;
  ASSERT_EQ(halo_litter(&settings, &report), HALO_LITTERED);
  size_t early = 0, falling = 0;
  for (size_t i = 0; i < requests.freed.size(); ++i) {
    early += requests.freed[i] < requests.sizes.size() / 2;
    falling += i > 0 && requests.freed[i] < requests.freed[i - 1];
  }
  const double half = static_cast<double>(requests.freed.size()) / 2;
  EXPECT_NEAR(static_cast<double>(early), half, half / 10);
  EXPECT_NEAR(static_cast<double>(falling), half, half / 10);
}

TEST(LitteringErrno, IsKept) {
  const File file(recorded().text());
  halo_litter_settings settings = settings_for(file);
  halo_litter_report report;
  Requests requests;  // its free changes errno
  errno = 77;
  ASSERT_EQ(halo_litter(&settings, &report), HALO_LITTERED);
  EXPECT_EQ(errno, 77);
  settings.data = "/nowhere";
  ASSERT_EQ(halo_litter(&settings, &report), HALO_NOT_LITTERED);
  EXPECT_EQ(errno, 77);
}

std::vector<Case> cases() {
  std::vector<Case> result;
  for (const double occupancy : {0.0, 0.5, 0.95, 1.0})
    for (const double multiplier : {0.1, 1.0, 7.3})
      for (const int shuffle : {0, 1}) result.push_back({occupancy, multiplier, shuffle});
  return result;
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
  return "Occupancy" + std::to_string(std::lround(info.param.occupancy * 100)) + "Times" +
         std::to_string(std::lround(info.param.multiplier * 10)) + "Tenths" +
         (info.param.shuffle != 0 ? "Shuffled" : "InOrder");
}

INSTANTIATE_TEST_SUITE_P(All, Littering, testing::ValuesIn(cases()), name_of);

}  // namespace
}  // namespace halo::litter
