// churn: replaces random small blocks, while the sizes drift from the smallest to the largest:
// memory that was freed at one size is needed at another.
#include <cstdlib>

#include "common/args.h"
#include "common/stress.h"

namespace {

// The sizes that are drawn at a time span an eighth of all sizes.
stress::Sizes drifted(stress::Sizes all, long replacement, long replacements) {
  const size_t window = (all.largest - all.smallest) / 8;
  const size_t way = all.largest - all.smallest - window;
  const size_t smallest =
      all.smallest + way * static_cast<size_t>(replacement) / static_cast<size_t>(replacements);
  return {smallest, smallest + window};
}

}  // namespace

int main(int argc, char** argv) {
  Argument arguments[] = {{"blocks", 1, 100000000, 0},      {"smallest bytes", 1, 1 << 20, 0},
                          {"largest bytes", 1, 1 << 20, 0}, {"replacements", 1, 10000000000, 0},
                          {"seed", 0, 1 << 30, 0},          {"rest in ms", 0, 10000, 0}};
  read_arguments(argc, argv, arguments, 6);
  const stress::Sizes sizes = stress::read_sizes(arguments[1], arguments[2]);
  const long replacements = arguments[3].value;
  Rng rng{static_cast<uint64_t>(arguments[4].value)};
  stress::Blocks blocks(static_cast<size_t>(arguments[0].value));

  stress::Stopwatch spent;
  spent.start();
  for (void*& block : blocks) {
    block = stress::make_block(drifted(sizes, 0, replacements).draw(rng));
  }
  for (long i = 0; i < replacements; ++i) {
    void*& block = blocks[rng_below(&rng, static_cast<uint32_t>(blocks.size()))];
    std::free(block);
    block = stress::make_block(drifted(sizes, i, replacements).draw(rng));
  }
  spent.stop();
  const long full = stress::resident_bytes();
  spent.start();
  blocks.free_all();
  spent.stop();

  const auto pairs = static_cast<uint64_t>(arguments[0].value + replacements);
  stress::Result result("churn", spent, 2 * pairs);
  result.add("full_rss_bytes", static_cast<double>(full));
  stress::rest(arguments[5].value);
  result.print(stress::resident_bytes());
  return 0;
}
