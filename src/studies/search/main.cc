// halo-predict: the misses that a program would have under candidate plans.
//
//   halo-predict [--machine=this|FILE] [--jobs=N] [--most=N] [--addresses=FILE] TRACE
//
// Reads the object trace, writes `{"accesses": ..., "kept": ...}` and then reads candidates from
// standard input, a line each (candidate.h). It predicts `jobs` of them at the same time, and
// writes a line of JSON for each, as soon as it is known: the type `Predicted` of
// halo/studies/search/document.py. At an empty line it waits for all of them, so that a failure is
// known. With `most`, as many stretches of accesses are left out that about N accesses are
// replayed, evenly from the whole trace. `addresses` gets the objects' addresses of the first
// candidate: 64-bit words by allocation number. Exit status: as in base/tool.h; 2 is also a wrong
// candidate.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/writer.h"
#include "base/tool.h"
#include "recorder/analysis/simulator_sink.h"
#include "recorder/objects/allocator_accesses.h"
#include "recorder/objects/trace_reader.h"
#include "studies/layouts/misses.h"
#include "studies/search/prediction.h"

namespace {

using namespace halo::predict;
using halo::ToolStatus;
using halo::objects::TraceReader;
using halo::simulator::Machine;

struct Options {
  std::optional<Machine> machine = halo::simulator::this_machine();
  unsigned jobs = 1;
  unsigned most = UINT_MAX;  // accesses
  std::string addresses;
  std::string trace;
};

bool parse(int argc, char** argv, Options& options) {
  return halo::parse_tool(
      argc, argv,
      {{"--machine=",
        [&](std::string_view value) { return halo::sinks::read_machine(value, options.machine); }},
       halo::count_option("--jobs=", options.jobs),
       halo::count_option("--most=", options.most),
       halo::text_option("--addresses=", options.addresses)},
      options.trace);
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
    json.fields("name", name, "grouped", found.grouped, "mixed", found.mixed, "peak_bytes",
                found.peak_bytes);
    halo::layout::write_misses(found.misses, machine, json);
  });
  putchar('\n');
}

// In a process of its own, as the runtime has one arena in a process.
[[noreturn]] void predict_and_exit(const Options& options, const StoredTrace& trace,
                                   const Candidate& candidate, const std::string& addresses) {
  std::vector<uint64_t> found_addresses;
  const std::optional<Prediction> found =
      predict(trace, *options.machine, candidate, addresses.empty() ? nullptr : &found_addresses);
  if (!found) _exit(int(ToolStatus::kCannotWork));
  if (!addresses.empty() && !write_addresses(addresses, found_addresses))
    _exit(int(ToolStatus::kCannotWork));
  print(*found, *options.machine, candidate.name);
  _exit(int(fflush(stdout) == 0 ? ToolStatus::kDone : ToolStatus::kCannotWork));
}

// Makes this child end if its parent does; false if that has ended already.
bool end_with(pid_t parent) { return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent; }

// Waits for one of the processes; false if it failed.
bool wait_for_one(unsigned& running) {
  int status = 0;
  --running;
  return wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == int(ToolStatus::kDone);
}

StoredTrace load(const Options& options) {
  uint64_t one_in = 1;
  if (options.most != UINT_MAX) {
    AccessCounter counter;
    TraceReader(options.trace).read(counter);
    one_in = std::max<uint64_t>(1, (counter.count() + options.most - 1) / options.most);
  }
  StoredTrace trace(one_in);
  TraceReader reader(options.trace);
  read_with_blocks(reader, trace);
  return trace;
}

ToolStatus run(const Options& options) {
  const StoredTrace trace = load(options);
  printf("{\"accesses\": %lu, \"kept\": %lu, \"objects\": %lu}\n", trace.accesses(), trace.kept(),
         trace.allocations());
  fflush(stdout);
  const pid_t parent = getpid();
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
      while (running > 0) wait_for_one(running);
      fputs("halo-predict: a candidate is malformed\n", stderr);
      return ToolStatus::kUsage;
    }
    if (running == options.jobs) good = wait_for_one(running);
    fflush(stdout);
    const pid_t process = fork();
    if (process == 0 && !end_with(parent)) _exit(int(ToolStatus::kCannotWork));
    if (process == 0) predict_and_exit(options, trace, candidate, addresses);
    addresses.clear();
    good = good && process > 0;
    running += process > 0;
  }
  while (running > 0) good = wait_for_one(running) && good;
  if (good) return ToolStatus::kDone;
  fputs("halo-predict: a candidate could not be predicted\n", stderr);
  return ToolStatus::kCannotWork;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    fputs(
        "usage: halo-predict [--machine=this|FILE] [--jobs=N] [--most=N] [--addresses=FILE] "
        "TRACE\n",
        stderr);
    return int(ToolStatus::kUsage);
  }
  return halo::run_tool("halo-predict", [&] { return run(options); });
}
