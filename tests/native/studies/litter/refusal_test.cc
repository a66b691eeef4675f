// Refused littering: one sentence, and a heap that is unchanged or has no more objects than were to
// stay.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>

#include "studies/litter/requests.h"
#include "studies/litter/sample.h"

namespace halo::litter {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

Sample small_sample() {
  Sample sample;
  sample.size(32, 600).size(64, 300).size(200, 100).max_live = 1000;
  return sample;
}

// Must be refused before any allocation; returns the reason.
std::string refusal(const halo_litter_settings& settings) {
  halo_litter_report report;
  memset(&report, 0xff, sizeof report);
  Requests requests;
  EXPECT_EQ(halo_litter(&settings, &report), HALO_NOT_LITTERED);
  EXPECT_EQ(requests.sizes.size(), 0u);
  EXPECT_EQ(requests.mapped, 0u);
  EXPECT_EQ(report.objects + report.kept + report.grouped + report.bytes + report.kept_bytes, 0u);
  EXPECT_EQ(report.own_bytes, 0u);
  EXPECT_EQ(std::string(report.problem).find('\n'), std::string::npos);
  return report.problem;
}

class Refusal : public testing::Test {
 protected:
  const File file_{small_sample().text()};
  halo_litter_settings settings_ = settings_for(file_);
};

TEST_F(Refusal, OfAnOccupancy) {
  for (const double occupancy : {1.5, -0.01, kNotANumber, kInfinity, -kInfinity}) {
    settings_.occupancy = occupancy;
    char expected[100];
    snprintf(expected, sizeof expected, "the occupancy %g is not a number from 0 to 1", occupancy);
    EXPECT_EQ(refusal(settings_), expected);
  }
}

TEST_F(Refusal, OfAMultiplier) {
  for (const double multiplier : {-1.0, kNotANumber, kInfinity, 1.1e6}) {
    settings_.multiplier = multiplier;
    EXPECT_NE(refusal(settings_).find("is not a number from 0 to 1000000"), std::string::npos);
  }
  settings_.multiplier = 1e-4;
  EXPECT_EQ(refusal(settings_),
            "0.0001 times 1000 objects is less than one: no object can be littered");
}

TEST_F(Refusal, IsNotForNothingToLitter) {
  settings_.multiplier = 0;
  settings_.data = "/nowhere/detector.out";
  Requests requests;
  halo_litter_report report;
  EXPECT_EQ(halo_litter(&settings_, &report), HALO_LITTERED);
  EXPECT_EQ(requests.sizes.size(), 0u);
  EXPECT_EQ(report.objects + report.own_bytes, 0u);
  EXPECT_STREQ(report.problem, "");
}

TEST_F(Refusal, OfGroupsWithoutAPlan) {
  settings_.groups = 1;
  EXPECT_EQ(refusal(settings_), "no plan serves this process, so there are no groups to litter");
}

TEST_F(Refusal, OfDataNamesTheFile) {
  settings_.data = "/nowhere/detector.out";
  EXPECT_EQ(refusal(settings_), "/nowhere/detector.out does not exist: run the detector first");
  const File shortened(small_sample().text().substr(0, 1000));
  settings_.data = shortened.path();
  EXPECT_EQ(refusal(settings_),
            std::string(shortened.path()) + " is cut short: run the detector again");
}

TEST_F(Refusal, OfAProgramThatAllocatedNothing) {
  const File nothing(Sample().text());
  settings_.data = nothing.path();
  EXPECT_EQ(refusal(settings_),
            std::string(nothing.path()) +
                " is of a program that allocated nothing: no object can be littered");
}

TEST_F(Refusal, OfMoreThanTheMachineHas) {
  Sample large;
  large.size(1'000'000'000, 1000).max_live = 1000;
  const File file(large.text());
  settings_.data = file.path();
  settings_.multiplier = 1e6;
  const std::string problem = refusal(settings_);
  EXPECT_EQ(problem.find("1000000000 objects need about 9536"), 0u) << problem;
  EXPECT_NE(problem.find("free: lower the multiplier"), std::string::npos) << problem;
}

TEST_F(Refusal, OfNumbersThatNoMachineHas) {
  Sample many;
  many.size(16, UINT64_MAX).max_live = UINT64_MAX;
  const File file(many.text());
  settings_.data = file.path();
  settings_.multiplier = 1e6;
  EXPECT_NE(refusal(settings_).find("objects do not fit in memory"), std::string::npos);
  settings_.multiplier = 1e-5;  // a list that would fit the address space
  EXPECT_NE(refusal(settings_).find("lower the multiplier"), std::string::npos);
}

// The result of `work` in a child that may take `room` more bytes of that kind.
template <class Work>
int with_room(decltype(RLIMIT_AS) kind, rlim_t room, const Work& work) {
  const pid_t child = fork();
  if (child == 0) {
    rlim_t pages[6];  // all, resident, shared, text, none, data
    std::ifstream statm("/proc/self/statm");
    for (rlim_t& number : pages) statm >> number;
    const rlim_t used = pages[kind == RLIMIT_AS ? 0 : 5] * static_cast<rlim_t>(getpagesize());
    const rlimit limit{used + room, used + room};
    _exit(statm && setrlimit(kind, &limit) == 0 ? work() : 99);
  }
  int status;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(Refusal, OfMoreThanALimitOnMemoryLeaves) {
  const auto litter_both = [this] {
    halo_litter_report report;
    if (halo_litter(&settings_, &report) != HALO_LITTERED) return 1;
    settings_.multiplier = 4000;  // some 300 MiB
    if (halo_litter(&settings_, &report) != HALO_NOT_LITTERED) return 2;
    return strstr(report.problem, "lower the multiplier") != nullptr ? 0 : 3;
  };
  for (const auto kind : {RLIMIT_AS, RLIMIT_DATA})
    EXPECT_EQ(with_room(kind, rlim_t{100} << 20, litter_both), 0) << kind;
}

// A large reservation counts as address space, not as data.
TEST_F(Refusal, NotOfDataForReservations) {
  const auto litter_beside_a_reservation = [this] {
    void* reserved = mmap(nullptr, size_t{8} << 30, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) return 98;
    halo_litter_report report;
    return static_cast<int>(halo_litter(&settings_, &report));
  };
  EXPECT_EQ(with_room(RLIMIT_DATA, rlim_t{1} << 30, litter_beside_a_reservation), HALO_LITTERED);
}

// malloc refuses one object, and littering allocates no further ones: it has kept and freed the
// right ones so far.
TEST_F(Refusal, HalfWay) {
  settings_.multiplier = 2;
  settings_.occupancy = 0.5;
  for (const int shuffle : {0, 1}) {
    settings_.shuffle = shuffle;
    std::vector<size_t> whole_sizes, whole_freed;
    halo_litter_report report;
    {
      Requests whole;
      ASSERT_EQ(halo_litter(&settings_, &report), HALO_LITTERED);
      whole_sizes = whole.sizes;
      whole_freed = whole.freed;
    }
    for (const size_t room : {0, 1, 1500}) {
      Requests requests(room);
      ASSERT_EQ(halo_litter(&settings_, &report), HALO_LITTERED_IN_PART);
      EXPECT_EQ(report.problem, "memory was refused after " + std::to_string(room) +
                                    " of 2000 objects: the heap is littered in part");
      EXPECT_EQ(report.objects, room);
      EXPECT_EQ(report.kept, room - requests.freed.size());
      std::vector<size_t> freed = requests.freed, expected;
      for (const size_t place : whole_freed)
        if (place < room) expected.push_back(place);
      std::sort(freed.begin(), freed.end());
      std::sort(expected.begin(), expected.end());
      EXPECT_EQ(freed, expected);
      ASSERT_EQ(requests.sizes.size(), room);
      EXPECT_TRUE(std::equal(requests.sizes.begin(), requests.sizes.end(), whole_sizes.begin()));
      EXPECT_EQ(requests.mapped, 0u);
      EXPECT_TRUE(requests.sound);
    }
  }
}

}  // namespace
}  // namespace halo::litter
