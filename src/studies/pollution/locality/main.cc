// halo-locality [--machine=this|FILE] [--seconds=N] [--draws=N] [--page-rate=N] [--min-bytes=N]
// [--origin-first] TRACE: miss rates of the last-level cache by page, object and context, and what
// the watch makes of the trace.
//
// Writes JSON to standard output (docs/watch.md). The program counts as one that runs for
// --seconds; by default for one each time that the misses fill the cache. The pages of about
// --draws random accesses are judged; with the clock of pages, by one page of --page-rate. Exit
// status: as in base/tool.h.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json/writer.h"
#include "base/tool.h"
#include "recorder/analysis/simulator_sink.h"
#include "recorder/objects/trace_reader.h"
#include "studies/pollution/locality/first_pass.h"
#include "studies/pollution/locality/watched_trace.h"

namespace {

using namespace halo::locality;
using halo::JsonWriter;
using halo::ToolStatus;

struct Options {
  halo::simulator::Machine machine = halo::simulator::this_machine();
  unsigned seconds = 0, draws = 0, page_rate = PageClockSettings{}.rate, min_bytes = 0;
  bool origin_first = false;
  std::string trace;
};

Settings settings_of(const Options& options) {
  Settings settings;
  const halo::simulator::Shape last = options.machine.caches.back().shape;
  settings.watch.open_lines = uint64_t{last.sets} * last.ways;
  settings.watch.restrict_lines = settings.watch.open_lines / 8;
  if (options.min_bytes != 0) settings.watch.min_bytes = options.min_bytes;
  if (options.origin_first) settings.watch.origin = halo::watch::Origin::kFirst;
  settings.clock = {options.page_rate, settings.watch.restrict_lines};
  return settings;
}

bool read_machine(std::string_view text, halo::simulator::Machine& machine) {
  std::optional<halo::simulator::Machine> read;
  if (!halo::sinks::read_machine(text, read) || !read) return false;
  machine = *std::move(read);
  return true;
}

// What can only be known after a first pass. Returns the seconds that the program counts as.
double complete(Settings& settings, const Options& options, const FirstPass& first) {
  const double fills = double(first.misses()) / double(settings.watch.open_lines);
  const double seconds = options.seconds != 0 ? options.seconds : std::max(1.0, fills);
  settings.megahertz = std::max(1e-6, double(first.cycles()) / (seconds * 1e6));
  settings.lines_of_visit = first.lines_of_visit();
  if (options.draws != 0)
    settings.draw_every = std::max<uint64_t>(1, first.object_accesses() / options.draws);
  return seconds;
}

template <size_t kSteps>
void write_histogram(std::string_view name, const Histogram<kSteps>& histogram, JsonWriter& json) {
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

void write_random(const RandomPagesByClock& random, const PageClock& clock, JsonWriter& json) {
  json.field("counters", [&] { write_watch(random.counters.watched(), json); });
  json.field("first", [&] { write_watch(random.first.watched(), json); });
  json.field("pages", [&] { write_watch(random.pages.watched(), json); });
  json.field("traps", clock.now());
}

void write_sampling(const SamplingErrors& errors, JsonWriter& json) {
  json.list("sampling", errors.intervals(), [&](const SamplingErrors::Interval& one) {
    json.value([&] {
      json.fields("objects", one.objects, "pages", one.pages, "within", one.within, "needed",
                  one.needed);
    });
  });
}

void write_contexts(const Tallies& tallies, const Settings& settings, JsonWriter& json) {
  uint64_t number = 0;
  json.list("contexts", tallies.contexts(), [&](const Tallies::Context& one) {
    const std::vector<double>& lines = settings.lines_of_visit;
    json.value([&] {
      json.fields("objects", one.allocations, "bytes", one.bytes, "peak_bytes", one.peak_bytes,
                  "accesses", one.accesses, "misses", one.misses, "rated", one.rated);
      json.field("variance", one.variance(), 4);
      json.fields("pages", one.pages, "near_pages", one.near_pages);
      json.field("lines_of_visit", number < lines.size() ? lines[number] : 1, 2);
    });
    ++number;
  });
}

void write(const WatchedTrace& watched, const Settings& settings, JsonWriter& json) {
  const Tallies& tallies = watched.tallies();
  const WatchedTrace::Success success = watched.success();
  json.fields("cache_bytes", settings.watch.open_lines * 64, "accesses",
              watched.last_level().accesses(), "misses", watched.last_level().misses(), "cycles",
              watched.last_level().cycles());
  write_histogram("objects", tallies.objects(), json);
  write_histogram("page_differences", tallies.differences(), json);
  json.fields("pages", tallies.pages(), "near_pages", tallies.near_pages(), "sure_pages",
              tallies.sure_pages(), "near_sure_pages", tallies.near_sure_pages());
  write_contexts(tallies, settings, json);
  write_sampling(tallies.sampling(), json);
  json.field("sampled", [&] { write_watch(watched.sampled(), json); });
  json.field("every", [&] { write_watch(watched.complete(), json); });
  if (watched.random_pages() != nullptr)
    json.field("random", [&] { write_random(*watched.random_pages(), watched.clock(), json); });
  json.fields("predicted", success.predicted, "right", success.right, "polluters",
              success.polluters, "known", success.known, "known_right", success.known_right,
              "learnt_right", success.learnt_right);
}

ToolStatus run(const Options& options) {
  Settings settings = settings_of(options);
  double seconds = 0;
  {
    FirstPass first(options.machine, settings.clock);
    halo::objects::TraceReader(options.trace).read(first);
    first.finish();
    seconds = complete(settings, options, first);
  }
  halo::objects::TraceReader reader(options.trace);
  WatchedTrace watched(options.machine, settings);
  reader.read(watched);
  watched.finish();
  JsonWriter json(stdout);
  json.value([&] {
    json.field("complete", reader.complete());
    json.field("seconds", seconds, 3);
    write(watched, settings, json);
  });
  putchar('\n');
  return fflush(stdout) == 0 && ferror(stdout) == 0 ? ToolStatus::kDone : ToolStatus::kCannotWork;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const bool parsed = halo::parse_tool(
      argc, argv,
      {{"--machine=", [&](std::string_view value) { return read_machine(value, options.machine); }},
       halo::count_option("--seconds=", options.seconds),
       halo::count_option("--draws=", options.draws),
       halo::count_option("--page-rate=", options.page_rate),
       halo::count_option("--min-bytes=", options.min_bytes),
       halo::flag_option("--origin-first", options.origin_first)},
      options.trace);
  if (!parsed) {
    fputs(
        "usage: halo-locality [--machine=this|FILE] [--seconds=N] [--draws=N] [--page-rate=N]"
        " [--min-bytes=N] [--origin-first] TRACE\n",
        stderr);
    return int(ToolStatus::kUsage);
  }
  return halo::run_tool("halo-locality", [&] { return run(options); });
}
