// Counting, compared with a slow reference, from threads and forked processes; and the file.
#include "studies/litter/detection.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <thread>

#include "studies/litter/distribution.h"
#include "studies/litter/sample.h"

namespace halo::litter {
namespace {

namespace fs = std::filesystem;

// A temporary directory for the duration of the test.
class InFolder : public testing::Test {
 protected:
  InFolder() { folder_ = mkdtemp(name_.data()); }
  ~InFolder() override { fs::remove_all(folder_); }
  std::string path() const { return folder_ / "detector.out"; }
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& entry : fs::directory_iterator(folder_))
      result.push_back(entry.path().filename());
    return result;
  }
  std::string written(const Detection& detection) const {
    EXPECT_TRUE(detection.write(path().c_str(), "/bin/x \"[{"));
    std::stringstream text;
    text << std::ifstream(path()).rdbuf();
    return text.str();
  }

  std::string name_ = "/tmp/halo-detection-XXXXXX";
  fs::path folder_;
};

// The text behind a member's name, up to the next comma that a name follows.
std::string member(const std::string& text, const std::string& name) {
  const size_t at = text.find("\"" + name + "\": ");
  EXPECT_NE(at, std::string::npos) << name;
  const size_t from = at + name.size() + 4;
  return text.substr(from, text.find(", \"", from) - from);
}

uint64_t number(const std::string& text, const std::string& name) {
  return std::stoull(member(text, name));
}

// All allocations, one by one.
struct Reference {
  void allocated(size_t size, int32_t group = -1) {
    sizes.push_back(size);
    groups.push_back(group);
    max_live = std::max(max_live, ++live);
  }

  // The file's contents except for the program and the mean.
  Sample sample(int32_t group_count) const {
    Sample result;
    result.max_live = max_live;
    result.groups.resize(static_cast<size_t>(group_count));
    for (const size_t size : sizes) result.size(size, 1);
    for (int32_t group = 0; group < group_count; ++group) {
      std::map<uint64_t, uint64_t> counts;
      for (size_t i = 0; i < sizes.size(); ++i)
        if (groups[i] == group) ++counts[class_of(sizes[i])];
      result.groups[static_cast<size_t>(group)].assign(counts.begin(), counts.end());
    }
    return result;
  }

  std::vector<size_t> sizes;
  std::vector<int32_t> groups;
  uint64_t live = 0, max_live = 0;
};

void expect_same(const std::string& text, const Reference& reference, int32_t groups) {
  const Sample sample = reference.sample(groups);
  const std::string expected = sample.text();
  const auto array = [](const std::string& whole, const char* name) {
    const size_t begin = whole.find('[', whole.find(name));
    size_t end = begin, depth = 0;
    do {
      depth += whole[end] == '[' ? 1u : 0u;
      depth -= whole[end] == ']' ? 1u : 0u;
    } while (++end < whole.size() && depth != 0);
    return whole.substr(begin, end - begin);
  };
  EXPECT_TRUE(array(text, "\"bins\"") == array(expected, "\"bins\""));
  EXPECT_TRUE(array(text, "\"groups\"") == array(expected, "\"groups\""));
  EXPECT_EQ(number(text, "larger_bytes"), number(expected, "larger_bytes"));
  EXPECT_EQ(member(text, "program"), member(expected, "program"));
  EXPECT_EQ(number(text, "version"), 1u);
  EXPECT_EQ(number(text, "allocations"), reference.sizes.size());
  EXPECT_EQ(number(text, "max_live_allocations"), reference.max_live);
  const auto& sizes = reference.sizes;
  EXPECT_EQ(number(text, "minimum"), *std::min_element(sizes.begin(), sizes.end()));
  EXPECT_EQ(number(text, "maximum"), *std::max_element(sizes.begin(), sizes.end()));
  long double sum = 0;
  for (const size_t size : sizes) sum += static_cast<long double>(size);
  EXPECT_NEAR(std::stod(member(text, "mean")),
              static_cast<double>(sum / static_cast<long double>(sizes.size())), 1e-6);
}

using DetectionFile = InFolder;

TEST_F(DetectionFile, AgreesWithTheReference) {
  constexpr int32_t kGroups = 3;
  const size_t edges[] = {0, 1, 4095, 4096, 4097, size_t{1} << 36};
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    Detection detection;
    ASSERT_TRUE(detection.open());
    detection.map_groups(kGroups);
    Reference reference;
    for (int i = 0; i < 3000; ++i) {
      if (reference.live > 0 && random() % 5 < 2) {
        detection.freed();
        --reference.live;
        continue;
      }
      const size_t size = random() % 3 == 0 ? edges[random() % 6] : random() % 6000;
      const auto group = static_cast<int32_t>(random() % (kGroups + 1)) - 1;
      detection.allocated(size, group);
      reference.allocated(size, group);
    }
    expect_same(written(detection), reference, kGroups);
  }
}

TEST_F(DetectionFile, CountsARevivedObjectOnce) {
  Detection detection;
  ASSERT_TRUE(detection.open());
  detection.allocated(10, -1);
  detection.freed();
  detection.revived();
  detection.allocated(20, -1);
  const std::string text = written(detection);
  EXPECT_EQ(number(text, "allocations"), 2u);
  EXPECT_EQ(number(text, "max_live_allocations"), 2u);
}

TEST_F(DetectionFile, OfNothingIsZeros) {
  Detection detection;
  ASSERT_TRUE(detection.open());
  const std::string text = written(detection);
  for (const char* name : {"allocations", "minimum", "maximum", "max_live_allocations"})
    EXPECT_EQ(number(text, name), 0u) << name;
  EXPECT_EQ(member(text, "mean"), "0.000000");
}

TEST_F(DetectionFile, GroupsOutsideThePlanAreNone) {
  Detection detection;
  ASSERT_TRUE(detection.open());
  detection.map_groups(2);
  Reference reference;
  for (const int32_t group : {-1, 0, 1, 2, 1000}) {
    detection.allocated(8, group);
    reference.allocated(8, group);
  }
  expect_same(written(detection), reference, 2);
}

TEST_F(DetectionFile, CountsAllThreads) {
  constexpr int kThreads = 4, kEach = 2000;
  Detection detection;
  ASSERT_TRUE(detection.open());
  Reference reference;
  std::barrier all_live(kThreads);
  std::vector<std::thread> workers;
  for (int t = 0; t < kThreads; ++t)
    workers.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) detection.allocated(static_cast<size_t>(t * i), -1);
      all_live.arrive_and_wait();
      for (int i = 0; i < kEach; ++i) detection.freed();
    });
  for (std::thread& thread : workers) thread.join();
  for (int t = 0; t < kThreads; ++t)
    for (int i = 0; i < kEach; ++i) reference.allocated(static_cast<size_t>(t * i));
  expect_same(written(detection), reference, 0);
  detection.allocated(1, -1);
  EXPECT_EQ(number(written(detection), "max_live_allocations"), uint64_t{kThreads} * kEach);
}

// Runs `work` in a child and waits for it.
template <class Work>
int in_child(const Work& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST_F(DetectionFile, CountsForkedProcesses) {
  Detection detection;
  ASSERT_TRUE(detection.open());
  Reference reference;
  for (int i = 0; i < 10; ++i) {
    detection.allocated(16, -1);
    reference.allocated(16);
  }
  // 10 are alive in the child too: with these 5 it has the maximum.
  const auto more = [&] {
    for (int i = 0; i < 5; ++i) detection.allocated(5000, -1);
    for (int i = 0; i < 15; ++i) detection.freed();
    return 0;
  };
  EXPECT_EQ(in_child(more), 0);
  for (int i = 0; i < 5; ++i) reference.allocated(5000);
  expect_same(written(detection), reference, 0);
  // Objects that the child freed are still alive here.
  for (int i = 0; i < 6; ++i) detection.allocated(1, -1);
  EXPECT_EQ(number(written(detection), "max_live_allocations"), 16u);
}

TEST_F(DetectionFile, ReplacesAnOlderOne) {
  std::ofstream(path()) << std::string(100'000, 'x');
  Detection detection;
  ASSERT_TRUE(detection.open());
  EXPECT_EQ(written(detection).find('x'),
            std::string("{\"format\": \"halo-detector\", \"version\": "
                        "1, \"program\": \"/bin/x")
                    .size() -
                1);
  EXPECT_EQ(names(), std::vector<std::string>{"detector.out"});
}

TEST_F(DetectionFile, IsCompleteOrNotThere) {
  Detection detection;
  ASSERT_TRUE(detection.open());
  EXPECT_FALSE(detection.write("/nowhere/detector.out", "x"));
  EXPECT_FALSE(detection.write(std::string(5000, 'a').c_str(), "x"));
  fs::create_directory(path());
  EXPECT_FALSE(detection.write(path().c_str(), "x"));
  EXPECT_EQ(names(), std::vector<std::string>{"detector.out"}) << "no draft is left";
  fs::remove(path());
  const auto on_a_full_disk = [&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    return detection.write(path().c_str(), "x") ? 1 : 0;
  };
  EXPECT_EQ(in_child(on_a_full_disk), 0);
  EXPECT_TRUE(names().empty());
}

TEST_F(DetectionFile, CanBeReadIfOthersCountMeanwhile) {
  Detection detection;
  ASSERT_TRUE(detection.open());
  detection.map_groups(2);
  std::atomic<bool> ends{false};
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 3; ++seed)
    threads.emplace_back([&, seed] {
      std::mt19937 random(seed);
      while (!ends) detection.allocated(random() % 5000, static_cast<int>(random() % 3) - 1);
    });
  for (int i = 0; i < 200; ++i) {
    EXPECT_TRUE(detection.write(path().c_str(), "x"));
    Distribution found;
    EXPECT_EQ(read_distribution(path().c_str(), true, found), nullptr);
  }
  ends = true;
  for (std::thread& thread : threads) thread.join();
}

TEST_F(DetectionFile, IsNoneWithoutMemory) {
  Detection closed;
  closed.allocated(1, -1);
  closed.freed();
  EXPECT_FALSE(closed.write(path().c_str(), "x"));
  EXPECT_TRUE(names().empty());
}

}  // namespace
}  // namespace halo::litter
