// lattice: the collisions of a D3Q19 lattice whose arrays fill a memory page, or all but 16 bytes.
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <vector>

#include "common/args.h"
#include "common/rng.h"
#include "lattice/block.h"

int main(int argc, char** argv) {
  Argument arguments[] = {{"blocks", 1, 1000000, 0},
                          {"cells of a block", 1, 1 << 20, 0},
                          {"steps", 0, 1000000000, 0},
                          {"seed", 0, 1 << 30, 0}};
  read_arguments(argc, argv, arguments, 4);
  const auto count = static_cast<size_t>(arguments[0].value);
  const auto cells = static_cast<size_t>(arguments[1].value);
  const long steps = arguments[2].value;

  Rng rng{static_cast<uint64_t>(arguments[3].value)};
  std::vector<std::unique_ptr<lattice::Block>> blocks;
  for (size_t i = 0; i < count; ++i) {
    blocks.push_back(std::make_unique<lattice::Block>(cells, rng));
  }
  for (long step = 0; step < steps; ++step) {
    for (size_t i = 0; i < count; ++i) {
      blocks[i]->collide();
      blocks[i]->exchange(*blocks[(i + 1) % count]);
    }
  }
  double mass = 0;
  uint64_t checksum = 0;
  for (const auto& block : blocks) {
    mass += block->mass();
    checksum = block->checksum(checksum);
  }
  std::printf("lattice: mass %.3f after %ld steps\nchecksum %016" PRIx64 "\n", mass, steps,
              checksum);
  return 0;
}
