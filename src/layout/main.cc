// halo-layout: replays an object trace with its objects in other orders.
//
//   halo-layout [--machine=this|FILE] [--window=N] [--jobs=N] TRACE
//
// Writes JSON to standard output, the type `Replayed` of halo/schema/layout.py: the graph, its
// communities, and the misses of every order and packing. `window` is the number of accesses before
// an access with which it pairs. Exit status: 0 success, 1 cannot write, 2 wrong usage, 3 not a
// trace, or a newer or damaged one. Status 3 comes with one sentence on stderr.
#include <atomic>
#include <charconv>
#include <cstdio>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/json_writer.h"
#include "layout/communities.h"
#include "layout/object_facts.h"
#include "layout/orders.h"
#include "layout/packing.h"
#include "layout/replay.h"
#include "objects/trace_reader.h"
#include "sinks/simulator_sink.h"

namespace {

using namespace halo::layout;
using halo::objects::TraceReader;
using halo::simulator::Machine;

enum Status { kDone = 0, kCannotWrite = 1, kUsage = 2, kNoTrace = 3 };

struct Options {
  std::optional<Machine> machine = halo::simulator::this_machine();
  unsigned window = 1;
  unsigned jobs = 1;
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
    } else if (word.starts_with("--window=")) {
      good = parse_number(value, options.window);
    } else if (word.starts_with("--jobs=")) {
      good = parse_number(value, options.jobs);
    } else {
      good = options.trace.empty() && !word.starts_with("--");
      options.trace = word;
    }
    if (!good) return false;
  }
  return !options.trace.empty();
}

// A replay to be made: an order, or none for the recorded addresses.
struct Task {
  const NamedOrder* order;
  const Packing* packing;
  Misses misses = {};
};

std::vector<uint64_t> addresses_of(const Subject& subject, const Task& task) {
  if (task.order != nullptr) return pack(subject.facts, task.order->make(subject), *task.packing);
  std::vector<uint64_t> addresses;
  addresses.reserve(subject.facts.size());
  for (const ObjectFacts& one : subject.facts) addresses.push_back(one.address);
  return addresses;
}

Misses replay(const Options& options, const std::vector<uint64_t>& addresses) {
  Replay replay(*options.machine, addresses);
  TraceReader(options.trace).read(replay);
  return replay.misses();
}

// Replays all tasks, `options.jobs` at the same time.
void replay_all(const Options& options, const Subject& subject, std::vector<Task>& tasks) {
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;  // of any thread
  const auto work = [&] {
    try {
      for (size_t at = next++; at < tasks.size(); at = next++)
        tasks[at].misses = replay(options, addresses_of(subject, tasks[at]));
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned job = 1; job < options.jobs; ++job) threads.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

void write_misses(const Task& task, const Machine& machine, halo::JsonWriter& json) {
  json.value([&] {
    json.fields("order", task.order == nullptr ? "as-recorded" : task.order->name, "packing",
                task.order == nullptr ? "recorded" : task.packing->name, "accesses",
                task.misses.accesses, "cycles", task.misses.cycles);
    json.key("misses");
    json.value([&] {
      for (size_t at = 0; at < machine.caches.size(); ++at)
        json.field(machine.caches[at].name, task.misses.caches[at]);
      for (size_t at = 0; at < machine.tlbs.size(); ++at)
        json.field(machine.tlbs[at].name, task.misses.tlbs[at]);
    });
  });
}

int run(const Options& options) {
  FactsReader reader(options.window);
  TraceReader trace(options.trace);
  trace.read(reader);
  const Communities communities = find_communities(reader.take_graph());
  const Subject subject{reader.facts(), reader.numbers(), communities};
  std::vector<Task> tasks = {{nullptr, nullptr}};
  for (const Packing& packing : kPackings)
    for (const NamedOrder& order : kOrders) tasks.push_back({&order, &packing});
  replay_all(options, subject, tasks);

  halo::JsonWriter json(stdout);
  json.value([&] {
    json.fields("complete", trace.complete(), "window", options.window, "objects",
                reader.facts().size() - 1, "accessed_objects", reader.numbers().size(), "accesses",
                reader.accesses(), "accesses_to_objects", reader.to_objects());
    json.field("graph", [&] {
      json.fields("edges", communities.graphs.front().edges.size() / 2, "pairs",
                  reader.pairs().added(), "dropped", reader.pairs().dropped());
    });
    json.list("communities", communities.parents, [&](const std::vector<uint32_t>& parents) {
      const size_t level = size_t(&parents - communities.parents.data());
      json.value(communities.graphs[level + 1].vertices());
    });
    json.list("replays", tasks,
              [&](const Task& task) { write_misses(task, *options.machine, json); });
  });
  putchar('\n');
  return fflush(stdout) == 0 && ferror(stdout) == 0 ? kDone : kCannotWrite;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    fputs("usage: halo-layout [--machine=this|FILE] [--window=N] [--jobs=N] TRACE\n", stderr);
    return kUsage;
  }
  try {
    return run(options);
  } catch (const std::exception& error) {
    fprintf(stderr, "%s\n", error.what());
    return kNoTrace;
  }
}
