// Draws planted graphs, and compares partitions.
#include "tools/planted_graph.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

namespace halo::layout {

namespace {

constexpr uint32_t kMaxWeight = 8;

// The sum of -p log p, for p = count / total.
double entropy(std::span<const uint64_t> sorted) {
  double sum = 0;
  for (size_t begin = 0; begin < sorted.size();) {
    size_t end = begin;
    while (end < sorted.size() && sorted[end] == sorted[begin]) ++end;
    const double share = double(end - begin) / double(sorted.size());
    sum -= share * std::log(share);
    begin = end;
  }
  return sum;
}

double entropy_of(std::vector<uint64_t> labels) {
  std::sort(labels.begin(), labels.end());
  return entropy(labels);
}

}  // namespace

PlantedGraph plant(const Planting& planting) {
  std::mt19937_64 random(planting.seed);
  std::vector<uint32_t> spread(planting.vertices);  // members of a community are adjacent in it
  std::iota(spread.begin(), spread.end(), 0);
  for (uint32_t left = planting.vertices; left > 1; --left)
    std::swap(spread[left - 1], spread[random() % left]);

  PlantedGraph planted{{}, std::vector<uint32_t>(planting.vertices)};
  std::vector<std::pair<uint32_t, uint32_t>> bounds(planting.vertices);  // by place in `spread`
  for (uint32_t begin = 0, community = 0; begin < planting.vertices; ++community) {
    const auto wanted = uint32_t(planting.members / 2 + random() % planting.members + 1);
    const uint32_t end = std::min(planting.vertices, begin + wanted);
    for (uint32_t at = begin; at < end; ++at) {
      bounds[at] = {begin, end};
      planted.communities[spread[at]] = community;
    }
    begin = end;
  }

  const auto is_inside = uint64_t(planting.inside * double(1 << 20));
  PairCounter pairs;
  for (size_t edge = 0; edge < planting.edges; ++edge) {
    const auto at = uint32_t(random() % planting.vertices);
    const bool inside = random() % (1 << 20) < is_inside;
    const auto [begin, end] = inside ? bounds[at] : std::pair(0u, planting.vertices);
    const auto other = uint32_t(begin + random() % (end - begin));
    if (other == at) continue;
    for (uint64_t weight = random() % kMaxWeight + 1; weight != 0; --weight)
      pairs.add(spread[at], spread[other]);
  }
  planted.graph = make_graph(planting.vertices, pairs.take());
  return planted;
}

double mutual_information(std::span<const uint32_t> a, std::span<const uint32_t> b) {
  std::vector<uint64_t> both(a.size());
  for (size_t at = 0; at < a.size(); ++at) both[at] = uint64_t{a[at]} << 32 | b[at];
  const double of_a = entropy_of({a.begin(), a.end()}), of_b = entropy_of({b.begin(), b.end()});
  const double shared = of_a + of_b - entropy_of(std::move(both));
  return of_a + of_b > 0 ? 2 * shared / (of_a + of_b) : 1;
}

}  // namespace halo::layout
