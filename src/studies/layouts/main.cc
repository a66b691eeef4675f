// halo-layout: replays an object trace with its objects in other orders.
//
//   halo-layout [--machine=this|FILE] [--window=N] [--jobs=N] [--graph=FILE] [--order=FILE]
//               [--layout=FILE] [--types=FILE] [--keys=FILE | --keys-by-address=FILE]
//               [--bucket=BYTES] [--fixed-cells] [--own-accesses] [--whole-graph]
//               [--no-replays] [--packing=NAME] [--after-phase] TRACE
//
// Writes JSON to standard output, the type `Replayed` of halo/studies/layouts/document.py: the
// graph, its communities, and the misses of every order and packing, or of one packing. `window` is
// the number of accesses before an access with which it pairs. Of a trace with a phase, only the
// phase counts, or with --after-phase only what is behind it. The graph is of the phase, too,
// unless there is
// --whole-graph. The file of types is as in object_types.h; without it there is no order by type.
//
// With a file of keys (object_keys.h), only the recorded layout is replayed, and the placement of
// those objects by Tidy, with and without hints. `packing` is then one of `recorded`,
// `hints-ignored` and `hinted`. The graph in the JSON then has no edges, unless it, the order or
// the layout file is asked for. With --own-accesses, Tidy's accesses to its tables are simulated,
// too (tidy_replay.h).
//
// The graph, the order and the layout file must not exist. Exit status: as in base/tool.h.
#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/json/writer.h"
#include "base/tool.h"
#include "recorder/analysis/simulator_sink.h"
#include "recorder/objects/allocator_accesses.h"
#include "recorder/objects/trace_reader.h"
#include "studies/layouts/communities.h"
#include "studies/layouts/graph_file.h"
#include "studies/layouts/jobs.h"
#include "studies/layouts/layout_file.h"
#include "studies/layouts/misses.h"
#include "studies/layouts/object_facts.h"
#include "studies/layouts/object_keys.h"
#include "studies/layouts/object_types.h"
#include "studies/layouts/order_file.h"
#include "studies/layouts/orders.h"
#include "studies/layouts/packing.h"
#include "studies/layouts/phase.h"
#include "studies/layouts/replay.h"
#include "studies/layouts/tidy_placement.h"
#include "studies/layouts/tidy_replay.h"

namespace {

using namespace halo::layout;
using halo::AddressRange;
using halo::ToolStatus;
using halo::objects::TraceReader;
using halo::simulator::Machine;

struct Options {
  std::optional<Machine> machine = halo::simulator::this_machine();
  unsigned window = 1;
  unsigned jobs = 1;
  bool after_phase = false;
  std::string packing;  // the only one, or empty for all
  std::string trace;
  // Files to write the access graph, the hierarchical layout and the layout file to, or empty.
  std::string graph, order, layout;
  std::string types, keys, keys_by_address;  // to read, or empty
  unsigned bucket = 0;                       // bytes; 0: Tidy's default
  bool fixed_cells = false;
  bool own_accesses = false;
  bool whole_graph = false;
  bool no_replays = false;

  bool has_keys() const { return !keys.empty() || !keys_by_address.empty(); }
  // Placements by keys need no graph, which takes most of the time.
  bool needs_graph() const {
    return !has_keys() || !graph.empty() || !order.empty() || !layout.empty();
  }
};

// Null if no format has the ending of this name.
const GraphFormat* format_of(std::string_view path) {
  for (const GraphFormat& format : kGraphFormats)
    if (path.ends_with(format.ending)) return &format;
  return nullptr;
}

// What the file of keys is replayed with, in that order.
constexpr std::string_view kPlacements[] = {"recorded", "hints-ignored", "hinted"};

bool is_packing(const Options& options) {
  if (options.packing.empty()) return true;
  if (options.has_keys())
    return std::find(std::begin(kPlacements), std::end(kPlacements), options.packing) !=
           std::end(kPlacements);
  return std::any_of(std::begin(kPackings), std::end(kPackings),
                     [&](const Packing& packing) { return packing.name == options.packing; });
}

bool parse(int argc, char** argv, Options& options) {
  const auto is_bucket = [](unsigned bytes) {
    return std::has_single_bit(bytes) && bytes >= 64 && bytes <= halo::tidy::kPageBytes;
  };
  const bool parsed = halo::parse_tool(
      argc, argv,
      {{"--machine=",
        [&](std::string_view value) { return halo::sinks::read_machine(value, options.machine); }},
       halo::count_option("--window=", options.window),
       halo::count_option("--jobs=", options.jobs),
       halo::text_option("--graph=", options.graph),
       halo::text_option("--order=", options.order),
       halo::text_option("--layout=", options.layout),
       halo::text_option("--types=", options.types),
       halo::text_option("--keys=", options.keys),
       halo::text_option("--keys-by-address=", options.keys_by_address),
       halo::count_option("--bucket=", options.bucket),
       halo::flag_option("--fixed-cells", options.fixed_cells),
       halo::flag_option("--own-accesses", options.own_accesses),
       halo::flag_option("--whole-graph", options.whole_graph),
       halo::text_option("--packing=", options.packing),
       halo::flag_option("--no-replays", options.no_replays),
       halo::flag_option("--after-phase", options.after_phase)},
      options.trace);
  return parsed && (options.graph.empty() || format_of(options.graph) != nullptr) &&
         is_packing(options) && (options.bucket == 0 || is_bucket(options.bucket));
}

// Calls write(file), unless the path is empty. Throws std::system_error if the file cannot be
// written.
template <class Write>
void write_file(const std::string& path, const Write& write) {
  if (path.empty()) return;
  const auto fail = [&] {
    throw std::system_error(errno, std::generic_category(), path + " cannot be written");
  };
  FILE* const file = fopen(path.c_str(), "wxe");
  if (file == nullptr) fail();
  write(file);
  const bool good = ferror(file) == 0;
  if (fclose(file) != 0 || !good) fail();
}

struct Replayed {
  std::string_view order, packing;
  Misses misses;
};

std::vector<uint64_t> recorded_addresses(const Subject& subject) {
  std::vector<uint64_t> addresses;
  addresses.reserve(subject.facts.size());
  for (const ObjectFacts& one : subject.facts) addresses.push_back(one.address);
  return addresses;
}

Misses replay(const Options& options, const std::vector<uint64_t>& addresses, PhaseSpan span,
              AddressRange huge) {
  Replay replay(*options.machine, addresses, span);
  if (huge.begin != huge.end) replay.huge_pages(huge.begin, huge.end - huge.begin);
  TraceReader reader(options.trace);
  read_with_blocks(reader, replay);
  return replay.misses();
}

// An order in the packings that are wanted.
std::vector<Replayed> replay_order(const Options& options, const Subject& subject,
                                   const NamedOrder& named, PhaseSpan span) {
  if (named.make == by_type && options.types.empty()) return {};
  const Order order = named.make(subject);
  std::vector<Replayed> found;
  for (const Packing& packing : kPackings) {
    if (!options.packing.empty() && options.packing != packing.name) continue;
    const std::vector<uint64_t> addresses = pack(subject, order, named.key, packing);
    const AddressRange huge = huge_pages_of(subject, addresses);
    found.push_back({named.name, packing.name, replay(options, addresses, span, huge)});
  }
  return found;
}

// The recorded addresses, where the objects that are larger than a line are watched.
Misses replay_recorded(const Options& options, const Subject& subject, PhaseSpan span) {
  const std::vector<uint64_t> addresses = recorded_addresses(subject);
  std::vector<bool> large;
  large.reserve(subject.facts.size());
  for (const ObjectFacts& one : subject.facts) large.push_back(one.exceeds_line());
  Replay replay(*options.machine, addresses, span, std::move(large));
  TraceReader reader(options.trace);
  read_with_blocks(reader, replay);
  return replay.misses();
}

// The placements that are wanted.
std::vector<Replayed> replay_keys(const Options& options, const Subject& subject, PhaseSpan span) {
  const ObjectKeys keys = options.keys.empty()
                              ? read_keys_by_address(options.keys_by_address, subject.facts)
                              : read_keys(options.keys);
  halo::tidy::HeapSettings settings;
  if (options.bucket != 0) settings.bucket_bytes = options.bucket;
  settings.adaptive = !options.fixed_cells;
  std::vector<Replayed> found;
  for (const std::string_view placement : kPlacements)
    if (options.packing.empty() || options.packing == placement)
      found.push_back({placement == kPlacements[0] ? "as-recorded" : "tidy", placement, {}});
  run_jobs(found.size(), options.jobs, [&](size_t at) {
    Replayed& one = found[at];
    if (one.packing == kPlacements[0]) {
      one.misses = replay_recorded(options, subject, span);
      return;
    }
    TidyPlacement placement(keys, settings, one.packing == kPlacements[1]);
    TidyReplay tidy(*options.machine, subject.facts, placement, span, options.own_accesses);
    TraceReader reader(options.trace);
    read_with_blocks(reader, tidy);
    one.misses = tidy.misses();
  });
  return found;
}

// The recorded addresses first, then all orders.
std::vector<Replayed> replay_all(const Options& options, const Subject& subject, PhaseSpan span) {
  std::vector<std::vector<Replayed>> found(std::size(kOrders) + 1);
  run_jobs(found.size(), options.jobs, [&](size_t at) {
    if (at == 0)
      found[at] = {{"as-recorded", "recorded", replay_recorded(options, subject, span)}};
    else
      found[at] = replay_order(options, subject, kOrders[at - 1], span);
  });
  std::vector<Replayed> all;
  for (const auto& part : found) all.insert(all.end(), part.begin(), part.end());
  return all;
}

void write_replayed(const Replayed& one, const Machine& machine, halo::JsonWriter& json) {
  json.value([&] {
    json.fields("order", one.order, "packing", one.packing, "run_cycles", one.misses.run_cycles);
    write_misses(one.misses, machine, json);
  });
}

// The type `MissPlaces` of halo/studies/layouts/document.py, if the recorded layout was replayed.
// An object trace has no types, so it tells no arrays.
void write_places(const std::vector<Replayed>& replays, halo::JsonWriter& json) {
  if (replays.empty() || replays.front().order != "as-recorded") return;
  const Misses& recorded = replays.front().misses;
  json.field("miss_places", [&] {
    json.fields("misses", recorded.caches[0], "large", recorded.to_watched, "arrays", 0, "typed",
                false);
  });
}

// The phase of the trace or what is behind it; nothing if it has no phase.
std::optional<PhaseSpan> find_span(const Options& options) {
  PhaseFinder finder;
  TraceReader(options.trace).read(finder);
  if (!finder.found() || !options.after_phase) return finder.found();
  return PhaseSpan{finder.found()->last + 1};
}

ToolStatus run(const Options& options) {
  const std::optional<PhaseSpan> phase = find_span(options);
  const PhaseSpan span = phase.value_or(PhaseSpan{});
  const PhaseSpan in_graph = options.whole_graph ? PhaseSpan{} : span;
  FactsReader reader(options.window, options.needs_graph() ? in_graph : PhaseSpan::none(),
                     options.types.empty() ? ObjectTypes{} : read_types(options.types));
  TraceReader trace(options.trace);
  read_with_blocks(trace, reader);
  const Graph graph = reader.take_graph();
  const std::vector<uint32_t> hubs = find_hubs(graph);
  const Communities communities = find_communities(without(graph, hubs));
  const Subject subject{reader.facts(), reader.numbers(), communities, hubs};
  write_file(options.graph,
             [&](FILE* file) { format_of(options.graph)->write(graph, subject, file); });
  write_file(options.order, [&](FILE* file) { write_order(hml(subject), subject, file); });
  write_file(options.layout, [&](FILE* file) { write_layout(subject, file); });
  std::vector<Replayed> replays;
  if (options.has_keys()) {
    replays = replay_keys(options, subject, span);
  } else if (!options.no_replays) {
    replays = replay_all(options, subject, span);
  }

  halo::JsonWriter json(stdout);
  json.value([&] {
    json.fields("complete", trace.complete(), "phase", phase.has_value(), "window", options.window,
                "objects", reader.objects(), "accessed_objects", reader.numbers().size(),
                "accesses", reader.accesses(), "min_lines", reader.min_lines(),
                "accesses_to_objects", reader.to_objects());
    json.field("graph", [&] {
      json.fields("edges", graph.edges.size() / 2, "hubs", hubs.size(), "pairs",
                  reader.pairs().added(), "dropped", reader.pairs().dropped());
    });
    json.list("communities", communities.parents, [&](const std::vector<uint32_t>& parents) {
      const size_t level = size_t(&parents - communities.parents.data());
      json.value(communities.graphs[level + 1].vertices());
    });
    write_places(replays, json);
    json.list("replays", replays,
              [&](const Replayed& one) { write_replayed(one, *options.machine, json); });
  });
  putchar('\n');
  return fflush(stdout) == 0 && ferror(stdout) == 0 ? ToolStatus::kDone : ToolStatus::kCannotWork;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    fputs(
        "usage: halo-layout [--machine=this|FILE] [--window=N] [--jobs=N] [--graph=FILE]"
        " [--order=FILE] [--layout=FILE] [--types=FILE] [--keys=FILE |"
        " --keys-by-address=FILE] [--bucket=BYTES]"
        " [--fixed-cells] [--own-accesses] [--whole-graph] [--no-replays] [--packing=NAME] "
        "[--after-phase] TRACE\n",
        stderr);
    return int(ToolStatus::kUsage);
  }
  return halo::run_tool("halo-layout", [&] { return run(options); });
}
