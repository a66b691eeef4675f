// halo-layout-bench: processor time and memory of the steps of halo-layout.
//
//   halo-layout-bench communities [VERTICES] [DRAWN_EDGES] [MEMBERS]
//   halo-layout-bench graph [ACCESSES] [OBJECTS]
//
// `communities` finds the communities of a planted graph, and orders its vertices by them; edges
// that are drawn twice are one.
// `graph` counts pairs of random accesses, of which nearly all are different. Ends with status 1
// if a step takes more time or memory than its bound, or if no level of communities has at least
// 0.95 of the planted ones' information.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <utility>
#include <vector>

#include "studies/layouts/communities.h"
#include "studies/layouts/object_facts.h"
#include "studies/layouts/orders.h"
#include "tools/planted_graph.h"

namespace {

using namespace halo::layout;

constexpr double kMinInformation = 0.95;

struct Bound {
  double seconds, gibibytes;
};

// Of processor time, which other programs do not add to.
class Stopwatch {
 public:
  double seconds() const { return double(std::clock() - start_) / CLOCKS_PER_SEC; }

 private:
  std::clock_t start_ = std::clock();
};

double peak_gibibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_maxrss) / (1 << 20);
}

bool is_within(const Bound& bound, double seconds) {
  const double memory = peak_gibibytes();
  printf("%.1f s of %.0f, at most %.2f GiB of %.0f\n", seconds, bound.seconds, memory,
         bound.gibibytes);
  return seconds <= bound.seconds && memory <= bound.gibibytes;
}

bool find_planted(const Planting& planting) {
  PlantedGraph planted = plant(planting);
  const size_t edges = planted.graph.edges.size() / 2;
  const Stopwatch all;
  const Communities found = find_communities(std::move(planted.graph));
  printf("%u vertices, %zu edges: communities in %.1f s\n", planting.vertices, edges,
         all.seconds());
  std::vector<ObjectFacts> facts(planting.vertices + 1);
  std::vector<uint64_t> numbers(planting.vertices);
  for (uint32_t vertex = 0; vertex < planting.vertices; ++vertex) {
    numbers[vertex] = vertex + 1;
    facts[vertex + 1].vertex = vertex;
  }
  const std::vector<uint32_t> hubs;
  const Subject subject{facts, numbers, found, hubs};
  for (const NamedOrder& named : kOrders) {
    if (!named.name.starts_with("hml")) continue;
    const Stopwatch one;
    named.make(subject);
    printf("%s in %.1f s\n", named.name.data(), one.seconds());
  }
  const double seconds = all.seconds();

  double best = 0;
  std::vector<uint32_t> mine(planting.vertices);
  for (size_t level = 1; level <= found.parents.size(); ++level) {
    for (uint32_t vertex = 0; vertex < planting.vertices; ++vertex)
      mine[vertex] = found.at_level(vertex, level);
    const double information = mutual_information(mine, planted.communities);
    printf("level %zu: %zu communities, mutual information %.4f, modularity %.4f\n", level,
           found.graphs[level].vertices(), information, modularity(found.graphs.front(), mine));
    best = std::max(best, information);
  }
  return is_within({90, 3}, seconds) && best >= kMinInformation;
}

bool count_pairs(uint64_t accesses, uint64_t objects) {
  const Stopwatch all;
  FactsReader reader(1);
  for (uint64_t number = 1; number <= objects; ++number)
    reader.allocate({number, number * 64, 48, halo::base::ContextId{0}});
  uint64_t state = 1;
  for (uint64_t at = 0; at < accesses; ++at) {
    state = state * 6364136223846793005 + 1442695040888963407;
    reader.access(halo::base::ThreadId{0}, (state >> 33) % objects + 1, 8, 8, false);
  }
  const Graph graph = reader.take_graph();
  printf("%llu accesses to %llu objects: %zu edges, %.1f %% of the weight dropped\n",
         static_cast<unsigned long long>(accesses), static_cast<unsigned long long>(objects),
         graph.edges.size() / 2,
         100 * double(reader.pairs().dropped()) / double(reader.pairs().added()));
  return is_within({60, 4}, all.seconds());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  const auto number = [&](int at, uint64_t otherwise) {
    return argc > at ? std::strtoull(argv[at], nullptr, 10) : otherwise;
  };
  if (what == "communities")
    return find_planted({.vertices = uint32_t(number(2, 2'000'000)),
                         .edges = number(3, 10'800'000),
                         .members = uint32_t(number(4, 60))})
               ? 0
               : 1;
  if (what == "graph") return count_pairs(number(2, 100'000'000), number(3, 2'000'000)) ? 0 : 1;
  fputs("usage: halo-layout-bench communities|graph [SIZE...]\n", stderr);
  return 2;
}
