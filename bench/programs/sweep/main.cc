// sweep: relaxes a large grid again and again, as solvers of differential equations do. Each array
// is larger than the caches, so that none of its lines is cached when it is used again.
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "common/args.h"
#include "common/checksum.h"
#include "common/rng.h"

namespace {

struct Grid {
  size_t cells;
  std::unique_ptr<uint32_t[]> now, next, source;
};

__attribute__((noinline)) Grid make_grid(size_t cells, Rng& rng) {
  Grid made = {cells, std::make_unique<uint32_t[]>(cells), std::make_unique<uint32_t[]>(cells),
               std::make_unique<uint32_t[]>(cells)};
  for (size_t at = 0; at < cells; ++at) made.source[at] = rng_below(&rng, 1000);
  return made;
}

__attribute__((noinline)) void relax(Grid& grid) {
  for (size_t at = 1; at + 1 < grid.cells; ++at) {
    const uint32_t around = grid.now[at - 1] / 2 + grid.now[at + 1] / 2;
    grid.next[at] = around / 2 + grid.source[at];
  }
  std::swap(grid.now, grid.next);
}

}  // namespace

int main(int argc, char** argv) {
  Argument arguments[] = {
      {"cells", 3, 1 << 28, 0}, {"rounds", 0, 1000000000, 0}, {"seed", 0, 1 << 30, 0}};
  read_arguments(argc, argv, arguments, 3);
  Rng rng{static_cast<uint64_t>(arguments[2].value)};
  Grid grid = make_grid(static_cast<size_t>(arguments[0].value), rng);
  const long rounds = arguments[1].value;
  for (long round = 0; round < rounds; ++round) relax(grid);
  uint64_t checksum = 0;
  for (size_t at = 0; at < grid.cells; ++at) checksum = checksum_add(checksum, grid.now[at]);
  std::printf("sweep: %zu cells, %ld rounds\nchecksum %016" PRIx64 "\n", grid.cells, rounds,
              checksum);
  return 0;
}
