// halo-locality [--machine=this|FILE] [--pause-us=N] [--period-us=N] [--origin-first] TRACE: miss
// rates of the last-level cache by page, object and context, and what the watch makes of the trace.
//
// Writes JSON to standard output. The times are between two samples of a page, and between two
// phases of an object. Exit status: as in base/tool.h.
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/writer.h"
#include "base/tool.h"
#include "locality/watched_trace.h"
#include "objects/trace_reader.h"
#include "sinks/simulator_sink.h"

namespace {

using namespace halo::locality;
using halo::JsonWriter;
using halo::ToolStatus;

struct Options {
  std::optional<halo::simulator::Machine> machine = halo::simulator::this_machine();
  unsigned pause_us = 0, period_us = 0;  // 0: as in watch/parameters.h
  bool origin_first = false;
  std::string trace;
};

Settings settings_of(const Options& options) {
  Settings settings;
  const halo::simulator::Shape last = options.machine->caches.back().shape;
  settings.watch.open_lines = uint64_t{last.sets} * last.ways;
  settings.watch.restrict_lines = settings.watch.open_lines / 8;
  if (options.pause_us != 0) settings.watch.pause_us = options.pause_us;
  if (options.period_us != 0) {
    settings.watch.period_us = options.period_us;
    settings.watch.timeout_us = 2 * uint64_t{options.period_us};
  }
  if (options.origin_first) settings.watch.origin = halo::watch::Origin::kFirst;
  return settings;
}

void write_histogram(std::string_view name, const Histogram& histogram, JsonWriter& json) {
  json.key(name);
  json.list([&] {
    for (const uint64_t count : histogram.counts()) json.value(count);
  });
}

void write_watch(const Watched& watched, JsonWriter& json) {
  const halo::watch::Monitor::Counts& counts = watched.monitor().counts();
  const Accuracy& accuracy = watched.accuracy();
  json.fields("watched", counts.watched, "skipped", counts.skipped, "hits", counts.hits, "misses",
              counts.misses, "bursts", counts.bursts, "dropped", counts.dropped, "expired",
              counts.expired, "moves", counts.moves);
  json.fields("samples", accuracy.samples, "false_hits", accuracy.false_hits, "false_misses",
              accuracy.false_misses);
}

void write(const WatchedTrace& watched, bool complete, JsonWriter& json) {
  const Tallies& tallies = watched.tallies();
  const WatchedTrace::Success success = watched.success();
  json.fields("complete", complete, "accesses", watched.last_level().accesses(), "misses",
              watched.last_level().misses(), "cycles", watched.last_level().cycles());
  write_histogram("objects", tallies.objects(), json);
  write_histogram("page_differences", tallies.differences(), json);
  json.fields("pages", tallies.pages(), "near_pages", tallies.near_pages());
  json.list("contexts", tallies.contexts(), [&](const Tallies::Context& context) {
    json.list([&] {
      json.value(context.allocations);
      json.value(context.rated);
      json.value(context.variance(), 4);
    });
  });
  json.field("sampled", [&] { write_watch(watched.sampled(), json); });
  json.field("every", [&] { write_watch(watched.complete(), json); });
  json.fields("predicted", success.predicted, "right", success.right);
}

ToolStatus run(const Options& options) {
  halo::objects::TraceReader reader(options.trace);
  WatchedTrace watched(*options.machine, settings_of(options));
  reader.read(watched);
  watched.finish();
  JsonWriter json(stdout);
  json.value([&] { write(watched, reader.complete(), json); });
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
       halo::count_option("--pause-us=", options.pause_us),
       halo::count_option("--period-us=", options.period_us),
       halo::flag_option("--origin-first", options.origin_first)},
      options.trace);
  if (!parsed) {
    fputs(
        "usage: halo-locality [--machine=this|FILE] [--pause-us=N] [--period-us=N]"
        " [--origin-first] TRACE\n",
        stderr);
    return int(ToolStatus::kUsage);
  }
  return halo::run_tool("halo-locality", [&] { return run(options); });
}
