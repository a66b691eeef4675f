// nodes: an index of nodes whose size is a memory page, or 16 bytes less.
#include <cinttypes>
#include <cstdio>

#include "common/args.h"
#include "nodes/index.h"

int main(int argc, char** argv) {
  Argument arguments[] = {{"nodes", 1, 10000000, 0},
                          {"bytes of a node", nodes::kSmallestNode, 1 << 20, 0},
                          {"visits", 0, 1000000000000, 0},
                          {"seed", 0, 1 << 30, 0}};
  read_arguments(argc, argv, arguments, 4);
  const auto count = static_cast<uint32_t>(arguments[0].value);
  const auto bytes = static_cast<size_t>(arguments[1].value);
  const long visits = arguments[2].value;

  Rng rng{static_cast<uint64_t>(arguments[3].value)};
  nodes::Index index(count, bytes, rng);
  index.visit(rng, visits);
  std::printf("nodes: %ld visits of %" PRIu32 " nodes, %" PRIu64 " keys below\nchecksum %016" PRIx64
              "\n",
              visits, count, index.keys_below(), index.checksum());
  return 0;
}
