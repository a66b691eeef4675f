// halo-predict: the misses that a program would have under candidate plans.
//
//   halo-predict [--machine=this|FILE] [--jobs=N] [--most=N] [--addresses=FILE] TRACE
//
// Reads the object trace, writes `{"accesses": ..., "kept": ...}` and then reads candidates from
// standard input, a line each (candidate.h). It predicts `jobs` of them at the same time, and
// writes a line of JSON for each, as soon as it is known: the type `Predicted` of
// halo/schema/prediction.py. At an empty line it waits for all of them, so that a failure is known.
// With `most`, as many stretches of accesses are left out that about N accesses are replayed,
// evenly from the whole trace. `addresses` gets the objects' addresses of the first candidate:
// 64-bit words by allocation number. Exit status: 0 success, 1 no memory or cannot write, 2 wrong
// usage or candidate, 3 not a trace, or a newer or damaged one. A status over 0 comes with one
// sentence on stderr.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "objects/trace_reader.h"
#include "predict/prediction.h"
#include "sinks/simulator_sink.h"

namespace {

using namespace halo::predict;
using halo::objects::TraceReader;
using halo::simulator::Machine;

enum Status { kDone = 0, kCannotWork = 1, kUsage = 2, kNoTrace = 3 };

struct Options {
  std::optional<Machine> machine = halo::simulator::this_machine();
  unsigned jobs = 1;
  unsigned most = UINT_MAX;  // accesses
  std::string addresses;
  std::string trace;
};

bool parse_number(std::string_view text, unsigned& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && value != 0;
}

bool parse(int argc, char** argv, Options& options) {
  for (int at = 1; at < argc; ++at) {
    const std::string_view word = argv[at];
    const auto value = word.substr(word.find('=') + 1);
    bool good = true;
    if (word.starts_with("--machine=")) {
      good = halo::sinks::read_machine(value, options.machine);
    } else if (word.starts_with("--jobs=")) {
      good = parse_number(value, options.jobs);
    } else if (word.starts_with("--most=")) {
      good = parse_number(value, options.most);
    } else if (word.starts_with("--addresses=")) {
      options.addresses = value;
    } else {
      good = options.trace.empty() && !word.starts_with("--");
      options.trace = word;
    }
    if (!good) return false;
  }
  return !options.trace.empty();
}

bool write_addresses(const std::string& path, const std::vector<uint64_t>& addresses) {
  FILE* const file = fopen(path.c_str(), "wxe");
  if (file == nullptr) return false;
  const bool good =
      fwrite(addresses.data(), sizeof(uint64_t), addresses.size(), file) == addresses.size();
  return fclose(file) == 0 && good;
}

void print(const Prediction& found, const Machine& machine, const std::string& name) {
  halo::JsonWriter json(stdout);
  json.value([&] {
    json.fields("name", name, "accesses", found.misses.accesses, "cycles", found.misses.cycles,
                "peak_bytes", found.peak_bytes);
    json.key("misses");
    json.value([&] {
      for (size_t at = 0; at < machine.caches.size(); ++at)
        json.field(machine.caches[at].name, found.misses.caches[at]);
      for (size_t at = 0; at < machine.tlbs.size(); ++at)
        json.field(machine.tlbs[at].name, found.misses.tlbs[at]);
    });
  });
  putchar('\n');
}

// In a process of its own, as the runtime has one arena in a process.
[[noreturn]] void predict_and_exit(const Options& options, const StoredTrace& trace,
                                   const Candidate& candidate, const std::string& addresses) {
  std::vector<uint64_t> found_addresses;
  const std::optional<Prediction> found =
      predict(trace, *options.machine, candidate, addresses.empty() ? nullptr : &found_addresses);
  if (!found) _exit(kCannotWork);
  if (!addresses.empty() && !write_addresses(addresses, found_addresses)) _exit(kCannotWork);
  print(*found, *options.machine, candidate.name);
  _exit(fflush(stdout) == 0 ? kDone : kCannotWork);
}

// Waits for one of the processes; false if it failed.
bool wait_for_one(unsigned& running) {
  int status = 0;
  --running;
  return wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == kDone;
}

StoredTrace load(const Options& options) {
  uint64_t one_in = 1;
  if (options.most != UINT_MAX) {
    AccessCounter counter;
    TraceReader(options.trace).read(counter);
    one_in = std::max<uint64_t>(1, (counter.count() + options.most - 1) / options.most);
  }
  StoredTrace trace(one_in);
  TraceReader(options.trace).read(trace);
  return trace;
}

int run(const Options& options) {
  const StoredTrace trace = load(options);
  printf("{\"accesses\": %lu, \"kept\": %lu}\n", trace.accesses(), trace.kept());
  fflush(stdout);
  std::string line, addresses = options.addresses;
  unsigned running = 0;
  bool good = true;
  while (good && std::getline(std::cin, line)) {
    if (line.empty()) {
      while (running > 0) good = wait_for_one(running) && good;
      continue;
    }
    Candidate candidate;
    if (!parse_candidate(line, candidate)) {
      fputs("halo-predict: a candidate is malformed\n", stderr);
      return kUsage;
    }
    if (running == options.jobs) good = wait_for_one(running);
    fflush(stdout);
    const pid_t process = fork();
    if (process == 0) predict_and_exit(options, trace, candidate, addresses);
    addresses.clear();
    good = good && process > 0;
    running += process > 0;
  }
  while (running > 0) good = wait_for_one(running) && good;
  if (good) return kDone;
  fputs("halo-predict: a candidate could not be predicted\n", stderr);
  return kCannotWork;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    fputs(
        "usage: halo-predict [--machine=this|FILE] [--jobs=N] [--most=N] [--addresses=FILE] "
        "TRACE\n",
        stderr);
    return kUsage;
  }
  try {
    return run(options);
  } catch (const std::bad_alloc&) {
    fputs("halo-predict: there is not enough memory for this trace\n", stderr);
    return kCannotWork;
  } catch (const std::exception& error) {
    fprintf(stderr, "%s\n", error.what());
    return kNoTrace;
  }
}
