// random: many live blocks, freed in random and in adverse orders; what an operation costs, and the
// worst single malloc and free.
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "common/args.h"
#include "common/stress.h"
#include "stress/timed_heap.h"

namespace {

constexpr uintptr_t kPage = 4096;

struct Load {
  stress::Sizes sizes;
  long rounds;
  uint64_t seed;
  stress::Blocks& pages;  // in which a block stays, and since which round
};

// malloc and free as they are, counted.
class PlainHeap {
 public:
  void* make(size_t bytes) { return std::malloc(bytes); }
  void drop(void* block) {
    ++frees_;
    std::free(block);
  }
  uint64_t operations() const { return 2 * frees_; }

 private:
  uint64_t frees_ = 0;
};

template <typename Heap>
void make(Heap& heap, void*& block, stress::Sizes sizes, Rng& rng) {
  const size_t bytes = sizes.draw(rng);
  block = stress::touch(heap.make(bytes), bytes);
}

template <typename Heap>
void drop(Heap& heap, void*& block) {
  heap.drop(block);
  block = nullptr;
}

template <typename Heap>
void refill(Heap& heap, stress::Blocks& blocks, stress::Sizes sizes, Rng& rng) {
  for (void*& block : blocks) {
    if (block == nullptr) {
      make(heap, block, sizes, rng);
    }
  }
}

// The orders: each begins with all blocks live, and ends so.

template <typename Heap>
void replace_at_random(Heap& heap, stress::Blocks& blocks, const Load& load, long, Rng& rng) {
  for (size_t i = 0; i < blocks.size(); ++i) {
    void*& block = blocks[rng_below(&rng, static_cast<uint32_t>(blocks.size()))];
    drop(heap, block);
    make(heap, block, load.sizes, rng);
  }
}

template <typename Heap>
void free_every_twelfth(Heap& heap, stress::Blocks& blocks, const Load& load, long round,
                        Rng& rng) {
  for (auto i = static_cast<size_t>(round % 12); i < blocks.size(); i += 12) {
    drop(heap, blocks[i]);
  }
  refill(heap, blocks, load.sizes, rng);
}

template <typename Heap>
void free_in_reverse(Heap& heap, stress::Blocks& blocks, const Load& load, long, Rng& rng) {
  for (size_t i = blocks.size(); i > 0; --i) {
    drop(heap, blocks[i - 1]);
  }
  refill(heap, blocks, load.sizes, rng);
}

// Keeps a block of the page if none is kept in this round.
inline bool stays(void* block, stress::Blocks& pages, long round) {
  const uintptr_t page = reinterpret_cast<uintptr_t>(block) / kPage;
  void*& kept = pages[page % pages.size()];
  void* const mark =
      reinterpret_cast<void*>(page * kPage + static_cast<uintptr_t>(round + 1) % kPage);
  const bool first = kept != mark;
  kept = mark;
  return first;
}

template <typename Heap>
void leave_survivors(Heap& heap, stress::Blocks& blocks, const Load& load, long round, Rng& rng) {
  for (void*& block : blocks) {
    if (!stays(block, load.pages, round)) {
      drop(heap, block);
    }
  }
  refill(heap, blocks, load.sizes, rng);
}

template <typename Heap>
using Order = void (*)(Heap&, stress::Blocks&, const Load&, long, Rng&);

constexpr const char* kOrders[] = {"random", "twelfth", "reverse", "survivors"};

template <typename Heap>
constexpr Order<Heap> kRunOrder[] = {replace_at_random<Heap>, free_every_twelfth<Heap>,
                                     free_in_reverse<Heap>, leave_survivors<Heap>};

template <typename Heap>
void run(Heap& heap, size_t order, stress::Blocks& blocks, const Load& load) {
  Rng rng{load.seed};
  refill(heap, blocks, load.sizes, rng);
  for (long round = 0; round < load.rounds; ++round) {
    kRunOrder<Heap>[order](heap, blocks, load, round, rng);
  }
  for (void*& block : blocks) {
    drop(heap, block);
  }
}

size_t read_order(int argc, char** argv) {
  for (size_t i = 0; argc > 1 && i < std::size(kOrders); ++i) {
    if (std::strcmp(argv[1], kOrders[i]) == 0) {
      return i;
    }
  }
  std::fprintf(stderr, "%s: expected an order (random, twelfth, reverse, survivors) first.\n",
               argv[0]);
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  Argument arguments[] = {{"blocks", 1, 100000000, 0},     {"rounds", 0, 1000000, 0},
                          {"smallest bytes", 1, kPage, 0}, {"largest bytes", 1, kPage, 0},
                          {"seed", 0, 1 << 30, 0},         {"rest in ms", 0, 10000, 0}};
  const size_t order = read_order(argc, argv);
  read_arguments(argc - 1, argv + 1, arguments, 6);
  stress::Blocks blocks(static_cast<size_t>(arguments[0].value));
  stress::Blocks pages(blocks.size());
  const Load load = {stress::read_sizes(arguments[2], arguments[3]), arguments[1].value,
                     static_cast<uint64_t>(arguments[4].value), pages};

  PlainHeap plain;
  stress::Stopwatch spent;
  spent.start();
  run(plain, order, blocks, load);
  spent.stop();
  stress::TimedHeap timed;
  run(timed, order, blocks, load);

  stress::Result result("random", spent, plain.operations());
  result.add_text("order", std::string("\"") + kOrders[order] + '"');
  result.add("ns_per_operation", spent.cpu() / static_cast<double>(plain.operations()));
  result.add("worst_malloc_ns", timed.worst_malloc_ns());
  result.add("worst_free_ns", timed.worst_free_ns());
  stress::rest(arguments[5].value);
  result.print(stress::resident_bytes());
  return 0;
}
