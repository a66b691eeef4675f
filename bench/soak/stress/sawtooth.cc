// sawtooth: grows to a peak, frees all blocks but some, and again; memory is read after each peak.
#include <cstdlib>
#include <string>

#include "common/args.h"
#include "common/stress.h"

namespace {

void grow(stress::Blocks& blocks, stress::Sizes sizes, Rng& rng) {
  for (void*& block : blocks) {
    if (block == nullptr) {
      block = stress::make_block(sizes.draw(rng));
    }
  }
}

// Blocks that stay after a peak: some of the runs of blocks allocated together.
struct Kept {
  uint32_t percent;
  size_t run;
};

// How many blocks were freed.
uint64_t shrink(stress::Blocks& blocks, Kept kept, Rng& rng) {
  uint64_t freed = 0;
  bool keep = false;
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (i % kept.run == 0) {
      keep = rng_below(&rng, 100) < kept.percent;
    }
    if (!keep) {
      std::free(blocks[i]);
      blocks[i] = nullptr;
      ++freed;
    }
  }
  return freed;
}

}  // namespace

int main(int argc, char** argv) {
  Argument arguments[] = {
      {"blocks", 1, 100000000, 0},      {"smallest bytes", 1, 1 << 20, 0},
      {"largest bytes", 1, 1 << 20, 0}, {"peaks", 1, 1000, 0},
      {"percent kept", 0, 99, 0},       {"blocks in a run", 1, 100000000, 0},
      {"seed", 0, 1 << 30, 0},          {"rest in ms", 0, 10000, 0},
  };
  read_arguments(argc, argv, arguments, 8);
  const stress::Sizes sizes = stress::read_sizes(arguments[1], arguments[2]);
  Rng rng{static_cast<uint64_t>(arguments[6].value)};
  const Kept kept = {static_cast<uint32_t>(arguments[4].value),
                     static_cast<size_t>(arguments[5].value)};
  stress::Blocks blocks(static_cast<size_t>(arguments[0].value));

  stress::Stopwatch spent;
  uint64_t freed = 0;
  std::string after_peaks;
  long after = 0;
  for (long peak = 0; peak < arguments[3].value; ++peak) {
    spent.start();
    grow(blocks, sizes, rng);
    freed += shrink(blocks, kept, rng);
    spent.stop();
    stress::rest(arguments[7].value);
    after = stress::resident_bytes();
    after_peaks += (peak == 0 ? "" : ", ") + std::to_string(after);
  }
  stress::Result result("sawtooth", spent, 2 * freed);
  result.add_text("after_peaks", "[" + after_peaks + "]");
  result.print(after);
  blocks.free_all();
  return 0;
}
