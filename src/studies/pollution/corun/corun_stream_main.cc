// halo-corun-stream [--machine=this|FILE] [--limit=N] [--pause-us=N] [--period-us=N]
// --output=STREAM TRACE: the stream of a program, from its object trace.
//
// --limit: accesses, after which the program counts as cut. The times are those of the watch,
// between two samples of a page and between two phases of an object. Writes a summary as JSON to
// standard output. Exit status: as in base/tool.h.
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/writer.h"
#include "base/tool.h"
#include "recorder/analysis/simulator_sink.h"
#include "studies/pollution/corun/stream_recorder.h"

namespace {

using namespace halo::corun;
using halo::JsonWriter;
using halo::ToolStatus;
using halo::simulator::Machine;

struct Options {
  std::optional<Machine> machine = halo::simulator::this_machine();
  // A thousandth of the paper's, as its programs run that much longer.
  unsigned pause_us = 100, period_us = 5000;
  uint64_t limit = UINT64_MAX;
  std::string output;
  std::string trace;
};

StreamSettings settings_of(const Options& options, const Machine& machine) {
  StreamSettings settings{.machine = machine, .watch = {}, .limit = options.limit};
  const halo::simulator::Shape last = settings.machine.caches.back().shape;
  halo::watch::Parameters& watch = settings.watch;
  watch.open_lines = uint64_t{last.sets} * last.ways;
  watch.restrict_lines = watch.open_lines / 8;
  watch.line_bytes = settings.machine.line;
  watch.page_bytes = settings.machine.page;
  watch.pause_us = options.pause_us;
  watch.period_us = options.period_us;
  return settings;
}

ToolStatus run(const Options& options, const Machine& machine) {
  const StreamSummary summary =
      record_stream(options.trace, settings_of(options, machine), options.output);
  JsonWriter json(stdout);
  json.value([&] {
    json.fields("accesses", summary.accesses, "cycles", summary.cycles, "requests",
                summary.requests, "misses", summary.misses, "complete", summary.complete);
    json.fields("watched", summary.watch.watched, "hits", summary.watch.hits, "samples_missed",
                summary.watch.misses, "moves", summary.watch.moves);
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
       {"--limit=",
        [&](std::string_view value) {
          return halo::parse_number(value, options.limit) && options.limit > 0;
        }},
       halo::count_option("--pause-us=", options.pause_us),
       halo::count_option("--period-us=", options.period_us),
       halo::text_option("--output=", options.output)},
      options.trace);
  if (!parsed || !options.machine || options.output.empty()) {
    fputs(
        "usage: halo-corun-stream [--machine=this|FILE] [--limit=N] [--pause-us=N] [--period-us=N]"
        " --output=STREAM TRACE\n",
        stderr);
    return int(ToolStatus::kUsage);
  }
  return halo::run_tool("halo-corun-stream", [&] { return run(options, *options.machine); });
}
