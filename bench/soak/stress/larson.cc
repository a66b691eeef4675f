// larson: servers replace random blocks of an array; each hands its array to a new thread and ends.
// After Larson and Krishnan, "Memory allocation for long-running server applications".
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "common/args.h"
#include "common/stress.h"

namespace {

struct Load {
  stress::Sizes sizes;
  long replacements;
  long rounds;
};

struct Array {
  stress::Blocks blocks;
  Rng rng;
};

// One thread's work on the array.
void serve(Array& array, const Load& load) {
  for (long i = 0; i < load.replacements; ++i) {
    void*& block = array.blocks[rng_below(&array.rng, static_cast<uint32_t>(array.blocks.size()))];
    std::free(block);
    block = stress::make_block(load.sizes.draw(array.rng));
  }
}

// A new thread for each round: blocks are freed by another thread than the one that made them.
void hand_on(Array& array, const Load& load) {
  for (long round = 0; round < load.rounds; ++round) {
    std::thread(serve, std::ref(array), std::cref(load)).join();
  }
}

}  // namespace

int main(int argc, char** argv) {
  Argument arguments[] = {{"threads", 1, 64, 0},
                          {"blocks of a thread", 1, 100000000, 0},
                          {"smallest bytes", 1, 1 << 20, 0},
                          {"largest bytes", 1, 1 << 20, 0},
                          {"replacements in a round", 0, 1000000000, 0},
                          {"rounds", 1, 1000000, 0},
                          {"seed", 0, 1 << 30, 0},
                          {"rest in ms", 0, 10000, 0}};
  read_arguments(argc, argv, arguments, 8);
  const long threads = arguments[0].value;
  const Load load = {stress::read_sizes(arguments[2], arguments[3]), arguments[4].value,
                     arguments[5].value};

  std::vector<std::unique_ptr<Array>> arrays;
  for (long i = 0; i < threads; ++i) {
    arrays.push_back(
        std::unique_ptr<Array>(new Array{stress::Blocks(static_cast<size_t>(arguments[1].value)),
                                         {mix64(static_cast<uint64_t>(arguments[6].value + i))}}));
  }
  stress::Stopwatch spent;
  spent.start();
  for (const auto& array : arrays) {
    for (void*& block : array->blocks) {
      block = stress::make_block(load.sizes.draw(array->rng));
    }
  }
  std::vector<std::thread> chains;
  for (const auto& array : arrays) {
    chains.emplace_back(hand_on, std::ref(*array), std::cref(load));
  }
  for (std::thread& chain : chains) {
    chain.join();
  }
  for (const auto& array : arrays) {
    array->blocks.free_all();
  }
  spent.stop();

  const auto pairs = threads * (arguments[1].value + load.rounds * load.replacements);
  stress::Result result("larson", spent, 2 * static_cast<uint64_t>(pairs));
  stress::rest(arguments[7].value);
  result.print(stress::resident_bytes());
  return 0;
}
