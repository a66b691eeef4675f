// halo-corun [--machine=this|FILE] [--restricted=FIRST-LAST] [--classes=NAME]... [--seeds=N]
// [--with=STREAM]... [--check] STREAM: up to eight programs on one last-level cache.
//
// --check: only whether the machine and the range suit, without reading a stream.
// --restricted: the colours of confined pages, by default the first eighth. --classes: which
// objects are confined (mapping.h), by default `open`. --seeds: of the frames; 1 to N are run.
// Writes JSON to standard output. Exit status: as in base/tool.h; the sentence has the name of an
// unusable stream.
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/writer.h"
#include "base/tool.h"
#include "recorder/analysis/simulator_sink.h"
#include "studies/pollution/corun/mapping.h"
#include "studies/pollution/corun/mix.h"
#include "studies/pollution/corun/stream_recorder.h"

namespace {

using namespace halo::corun;
using halo::JsonWriter;
using halo::ToolStatus;
using halo::simulator::Machine;

constexpr size_t kMaxPrograms = 8;

struct Options {
  std::optional<Machine> machine = halo::simulator::this_machine();
  std::optional<std::pair<uint32_t, uint32_t>> restricted;  // first and last
  std::vector<std::string> classes;
  unsigned seeds = 1;
  bool check = false;
  std::vector<std::string> others;
  std::string stream;
};

bool parse_range(std::string_view text, Options& options) {
  const size_t dash = text.find('-');
  std::pair<uint32_t, uint32_t> range;
  if (dash == std::string_view::npos || !halo::parse_number(text.substr(0, dash), range.first) ||
      !halo::parse_number(text.substr(dash + 1), range.second))
    return false;
  options.restricted = range;
  return true;
}

Colours restricted(const Options& options, const Machine& machine) {
  Colours colours = colours_of(machine);
  if (!options.restricted) return colours;
  const auto [first, last] = *options.restricted;
  if (first > last) throw std::invalid_argument("the restricted range has no colours");
  if (last >= colours.count)
    throw std::invalid_argument("the restricted range ends behind the last of " +
                                std::to_string(colours.count) + " colours");
  colours.first = first;
  colours.end = last + 1;
  return colours;
}

std::vector<Stream> read_all(const Options& options, const Machine& machine) {
  std::vector<Stream> streams;
  std::vector<std::string> paths = {options.stream};
  paths.insert(paths.end(), options.others.begin(), options.others.end());
  for (const std::string& path : paths) {
    try {
      streams.push_back(read_stream(path));
      if (streams.back().head.private_levels != check_of_private(machine))
        throw std::runtime_error("it is of a machine with other private levels");
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(path + ": " + error.what());
    }
  }
  return streams;
}

void write(const Stream& stream, JsonWriter& json) {
  json.value([&] {
    json.fields("accesses", stream.head.accesses, "own_cycles", stream.head.cycles, "complete",
                stream.head.complete != 0);
    uint64_t requests = 0, exact = 0, predicted = 0, online = 0, learnt = 0, objects = 0;
    for (const OwnerEntry& owner : stream.owners) {
      requests += owner.requests;
      objects += owner.is_object != 0 ? owner.requests : 0;
      exact += owner.exact != 0 ? owner.requests : 0;
      predicted += owner.predicted != 0 ? owner.requests : 0;
      online += owner.online != 0 ? owner.requests : 0;
      learnt += owner.learnt != 0 ? owner.requests : 0;
    }
    json.fields("requests", requests, "of_objects", objects, "exact", exact, "predicted", predicted,
                "online", online, "learnt", learnt);
  });
}

void write(const ProgramResult& one, JsonWriter& json) {
  json.value([&] {
    json.fields("cycles", one.cycles, "accesses", one.accesses, "misses", one.misses, "fetches",
                one.fetches, "demands", one.demands, "missed_demands", one.missed_demands, "runs",
                one.runs);
  });
}

ToolStatus run(const Options& options, const Machine& machine) {
  const Colours colours = restricted(options, machine);
  if (options.check) return ToolStatus::kDone;
  const std::vector<Stream> streams = read_all(options, machine);
  std::vector<const Stream*> programs;
  for (const Stream& stream : streams) programs.push_back(&stream);
  JsonWriter json(stdout);
  json.value([&] {
    json.fields("colours", colours.count, "first", colours.first, "last", colours.end - 1);
    json.list("programs", streams, [&](const Stream& stream) { write(stream, json); });
    json.key("runs");
    json.list([&] {
      for (const std::string& name : options.classes) {
        const Classes classes = *classes_of(name);
        std::vector<std::vector<bool>> confined;
        for (unsigned seed = 1; seed <= options.seeds; ++seed) {
          if (seed == 1 || classes == Classes::kRandom)
            confined = confined_owners(machine, colours, programs, classes, seed);
          json.new_line();
          json.value([&] {
            json.field("classes", std::string_view(name));
            json.field("seed", seed);
            json.list("programs", run_mix(machine, colours, programs, confined, seed),
                      [&](const ProgramResult& one) { write(one, json); });
          });
        }
      }
    });
  });
  putchar('\n');
  return fflush(stdout) == 0 && ferror(stdout) == 0 ? ToolStatus::kDone : ToolStatus::kCannotWork;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const bool parsed = halo::parse_tool(
      argc, argv,
      {{"--machine=",
        [&](std::string_view value) { return halo::sinks::read_machine(value, options.machine); }},
       {"--restricted=", [&](std::string_view value) { return parse_range(value, options); }},
       {"--classes=",
        [&](std::string_view value) {
          options.classes.emplace_back(value);
          return classes_of(value).has_value();
        }},
       halo::count_option("--seeds=", options.seeds),
       halo::flag_option("--check", options.check),
       {"--with=",
        [&](std::string_view value) {
          options.others.emplace_back(value);
          return options.others.size() < kMaxPrograms;
        }}},
      options.stream);
  if (!parsed || !options.machine) {
    fputs(
        "usage: halo-corun [--machine=this|FILE] [--restricted=FIRST-LAST] [--classes=NAME]..."
        " [--seeds=N] [--with=STREAM]... [--check] STREAM\n",
        stderr);
    return int(ToolStatus::kUsage);
  }
  if (options.classes.empty()) options.classes.emplace_back("open");
  return halo::run_tool("halo-corun", [&] { return run(options, *options.machine); });
}
