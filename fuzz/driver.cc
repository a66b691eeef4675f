// Forks, watches, and stores reproducers.
#include "fuzz/driver.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

namespace halo::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kHangMilliseconds = 60'000;  // a batch takes a small part of this
constexpr unsigned kMaxFindings = 5;

struct Options {
  unsigned long seconds = 0;
  uint64_t seed = 1;
  std::string keep = ".";
  std::vector<std::string> files;
};

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool more = i + 1 < argc;
    if (argument == "--seconds" && more)
      options.seconds = std::strtoul(argv[++i], nullptr, 10);
    else if (argument == "--seed" && more)
      options.seed = std::strtoull(argv[++i], nullptr, 10);
    else if (argument == "--keep" && more)
      options.keep = argv[++i];
    else if (argument[0] == '-')
      return false;
    else
      options.files.push_back(argument);
  }
  return (options.seconds != 0) != !options.files.empty();
}

// The input of an execution depends on the seed and its number only.
Input input_of(const Target& target, uint64_t seed, uint64_t number) {
  std::seed_seq parts{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32),
                      static_cast<uint32_t>(number), static_cast<uint32_t>(number >> 32)};
  Random random(parts);
  return target.make(random);
}

int replay(const Target& target, const std::vector<std::string>& files) {
  for (const std::string& name : files) {
    std::ifstream file(name, std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "%s cannot be opened\n", name.c_str());
      return 2;
    }
    const std::vector<char> read{std::istreambuf_iterator<char>(file), {}};
    const Input input(read.begin(), read.end());
    target.run(input);
    std::printf("%s: no finding\n", name.c_str());
  }
  return 0;
}

// The result of a forked batch: empty, or how it ended.
std::string wait_for(pid_t child) {
  const int handle = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  pollfd ended{handle, POLLIN, 0};
  const bool hangs = handle >= 0 && poll(&ended, 1, kHangMilliseconds) == 0;
  if (hangs) kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  if (handle >= 0) close(handle);
  if (hangs) return "hangs";
  if (WIFSIGNALED(status)) return strsignal(WTERMSIG(status));
  if (WEXITSTATUS(status) != 0) return "exit status " + std::to_string(WEXITSTATUS(status));
  return {};
}

class Campaign {
 public:
  Campaign(const Target& target, const Options& options)
      : target_(target),
        options_(options),
        end_(Clock::now() + std::chrono::seconds(options.seconds)) {
    void* shared =
        mmap(nullptr, sizeof *current_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) std::abort();
    current_ = new (shared) std::atomic<uint64_t>(0);
  }

  int run() {
    while (Clock::now() < end_ && findings_ < kMaxFindings) run_batch();
    std::printf("%s: %lu executions, %u findings, seed %lu\n", target_.name, current_->load(),
                findings_, options_.seed);
    return findings_ == 0 && current_->load() != 0 ? 0 : 1;
  }

 private:
  void run_batch() {
    std::fflush(stdout);
    const uint64_t first = current_->load();
    const pid_t child = fork();
    if (child < 0) std::abort();
    if (child == 0) {
      for (uint64_t at = first; at < first + target_.batch && Clock::now() < end_; ++at) {
        current_->store(at);
        target_.run(input_of(target_, options_.seed, at));
        current_->store(at + 1);
      }
      _exit(0);
    }
    const std::string problem = wait_for(child);
    if (problem.empty()) return;
    ++findings_;
    keep(current_->load(), problem);
    current_->fetch_add(1);
  }

  void keep(uint64_t number, const std::string& problem) {
    const std::string name = options_.keep + "/" + target_.name + "-" +
                             std::to_string(options_.seed) + "-" + std::to_string(number);
    const Input input = input_of(target_, options_.seed, number);
    std::ofstream(name, std::ios::binary)
        .write(reinterpret_cast<const char*>(input.data()),
               static_cast<std::streamsize>(input.size()));
    std::printf("%s: execution %lu: %s; input kept in %s\n", target_.name, number, problem.c_str(),
                name.c_str());
  }

  const Target& target_;
  const Options& options_;
  const Clock::time_point end_;
  unsigned findings_ = 0;
  std::atomic<uint64_t>* current_;  // the current execution, shared with the child
};

}  // namespace

int drive(int argc, char** argv, const Target& target) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr, "usage: %s --seconds N [--seed S] [--keep FOLDER]\n       %s FILE...\n",
                 argv[0], argv[0]);
    return 2;
  }
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (!options.files.empty()) return replay(target, options.files);
  return Campaign(target, options).run();
}

}  // namespace halo::fuzz
