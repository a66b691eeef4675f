// xmalloc: producer threads allocate all blocks, consumer threads free them.
// After Lever and Boreham, "malloc() performance in a multithreaded Linux environment".
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "common/args.h"
#include "common/stress.h"
#include "stress/channel.h"

namespace {

using stress::Channel;
using stress::Link;

void produce(Channel& channel, stress::Sizes sizes, long blocks, uint64_t seed) {
  constexpr long kBatch = 256;
  Rng rng{mix64(seed)};
  Link* batch = nullptr;
  for (long i = 1; i <= blocks; ++i) {
    auto* block = static_cast<Link*>(stress::make_block(sizes.draw(rng)));
    block->next = batch;
    batch = block;
    if (i % kBatch == 0 || i == blocks) {
      channel.send(batch);
      batch = nullptr;
    }
  }
}

void consume(Channel& channel) {
  while (Link* batch = channel.receive()) {
    while (batch != nullptr) {
      Link* next = batch->next;
      std::free(batch);
      batch = next;
    }
  }
}

void join_all(std::vector<std::thread>& threads) {
  for (std::thread& thread : threads) {
    thread.join();
  }
}

}  // namespace

int main(int argc, char** argv) {
  Argument arguments[] = {{"producers", 1, 64, 0},
                          {"consumers", 1, 64, 0},
                          {"blocks of a producer", 1, 1000000000, 0},
                          {"smallest bytes", sizeof(Link), 1 << 20, 0},
                          {"largest bytes", sizeof(Link), 1 << 20, 0},
                          {"seed", 0, 1 << 30, 0},
                          {"rest in ms", 0, 10000, 0}};
  read_arguments(argc, argv, arguments, 7);
  const stress::Sizes sizes = stress::read_sizes(arguments[3], arguments[4]);
  const long blocks = arguments[2].value;

  Channel channel;
  std::vector<std::thread> producers;
  std::vector<std::thread> consumers;
  stress::Stopwatch spent;
  spent.start();
  for (long i = 0; i < arguments[0].value; ++i) {
    producers.emplace_back(produce, std::ref(channel), sizes, blocks,
                           static_cast<uint64_t>(arguments[5].value + i));
  }
  for (long i = 0; i < arguments[1].value; ++i) {
    consumers.emplace_back(consume, std::ref(channel));
  }
  join_all(producers);
  channel.close();
  join_all(consumers);
  spent.stop();

  const auto all = static_cast<uint64_t>(arguments[0].value * blocks);
  stress::Result result("xmalloc", spent, 2 * all);
  stress::rest(arguments[6].value);
  result.print(stress::resident_bytes());
  return 0;
}
