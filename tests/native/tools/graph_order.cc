// halo-graph-order: communities and spectral order of a graph given as text.
//
//   halo-graph-order VERTICES < edges
//
// Lines: `A B WEIGHT`, vertices from 0 on, each pair at most once. Prints JSON: `levels` has the
// community of each vertex by level, the finest first; `order` has the vertices in spectral order;
// `fiedler` has the entries of the Fiedler vector, and is empty unless the graph is connected.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/json/writer.h"
#include "studies/layouts/communities.h"
#include "studies/layouts/spectral.h"

namespace {

using namespace halo::layout;

bool read_pairs(uint32_t vertices, std::vector<WeightedPair>& pairs) {
  WeightedPair one{};
  int fields = 0;
  while ((fields = scanf("%u %u %u", &one.low, &one.high, &one.weight)) == 3) {
    if (one.low > one.high) std::swap(one.low, one.high);
    if (one.low == one.high || one.high >= vertices) return false;
    pairs.push_back(one);
  }
  std::sort(pairs.begin(), pairs.end(), [](auto& a, auto& b) { return a.pair() < b.pair(); });
  return fields == EOF;
}

bool is_connected(const Graph& graph) {
  std::vector<bool> seen(graph.vertices());
  std::vector<uint32_t> reached = {0};
  seen[0] = true;
  for (size_t at = 0; at < reached.size(); ++at)
    for (const Graph::Edge& edge : graph.row(reached[at]))
      if (!seen[edge.to]) {
        seen[edge.to] = true;
        reached.push_back(edge.to);
      }
  return reached.size() == graph.vertices();
}

void print(const Graph& graph) {
  const Communities found = find_communities(graph);
  halo::JsonWriter json(stdout);
  json.value([&] {
    json.list("levels", found.parents, [&](const std::vector<uint32_t>& parents) {
      const size_t level = size_t(&parents - found.parents.data()) + 1;
      json.list([&] {
        for (uint32_t vertex = 0; vertex < graph.vertices(); ++vertex)
          json.value(found.at_level(vertex, level));
      });
    });
    json.list("order", spectral_order(graph), [&](uint32_t vertex) { json.value(vertex); });
    const bool connected = graph.vertices() > 2 && is_connected(graph);
    json.list("fiedler", connected ? fiedler_vector(graph) : std::vector<double>{},
              [&](double entry) { json.value(entry, 12); });
  });
  putchar('\n');
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned long vertices = argc == 2 ? std::strtoul(argv[1], nullptr, 10) : 0;
  std::vector<WeightedPair> pairs;
  if (vertices == 0 || vertices > UINT32_MAX || !read_pairs(uint32_t(vertices), pairs)) {
    fputs("usage: halo-graph-order VERTICES < edges\n", stderr);
    return 2;
  }
  print(make_graph(vertices, pairs));
  return fflush(stdout) == 0 && ferror(stdout) == 0 ? 0 : 1;
}
