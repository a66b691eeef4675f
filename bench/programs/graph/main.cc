// graph FILE bfs|dfs STARTS SEED: traverses a graph from random nodes (Miucin, section 3.5.2).
//
// Prints a checksum, which does not depend on the order of the file's lines. If the environment has
// HALO_BENCH_PHASES, prints the traversals' seconds of processor time on stderr.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "common/phase.h"
#include "common/rng.h"
#include "graph/graph.h"

namespace {

using Traversal = uint64_t (*)(graph::Graph&, graph::Node&, uint64_t);

Traversal traversal_named(std::string_view name) {
  if (name == "bfs") return graph::breadth_first;
  return name == "dfs" ? graph::depth_first : nullptr;
}

void run(const char* path, Traversal traverse, unsigned long starts, Rng random) {
  graph::Graph graph(path);
  uint64_t checksum = 0;
  {
    const Phase phase("traversal");
    for (unsigned long start = 0; graph.size() != 0 && start < starts; ++start)
      checksum = traverse(graph, graph.node(rng_next(&random) % graph.size()), checksum);
  }
  printf("graph: %zu nodes, %lu traversals\nchecksum %016" PRIx64 "\n", graph.size(), starts,
         checksum);
}

}  // namespace

int main(int argc, char** argv) {
  const Traversal traverse = argc == 5 ? traversal_named(argv[2]) : nullptr;
  if (traverse == nullptr) {
    fputs("usage: graph FILE bfs|dfs STARTS SEED\n", stderr);
    return 2;
  }
  try {
    run(argv[1], traverse, std::strtoul(argv[3], nullptr, 10),
        Rng{std::strtoull(argv[4], nullptr, 10)});
  } catch (const std::exception& error) {
    fprintf(stderr, "graph: %s\n", error.what());
    return 1;
  }
  return 0;
}
