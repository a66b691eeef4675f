// halo-stream-bench: processor time and memory of the grammar of an object reference trace, and of
// the search for its hot data streams.
//
//   halo-stream-bench [PATTERN [MILLIONS]]
//
// Patterns: `lists` (10,000 lists of up to 100 objects, walked in any order), `mixed` (the same,
// every fourth reference any of a million objects), `random` (only such ones: nothing repeats).
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <random>

#include "recorder/analysis/streams/hot_streams.h"

namespace {

constexpr uint32_t kLists = 10000;
constexpr uint32_t kLongest = 100;
constexpr uint32_t kObjects = 1000000;

// Generates references, of which every `noise`th is a random object; 1: all, 0: none.
class References {
 public:
  explicit References(uint32_t noise) : noise_(noise) {}

  uint32_t next() {
    ++count_;
    if (noise_ != 0 && count_ % noise_ == 0) return below(kObjects);
    if (left_ == 0) {
      const uint32_t list = below(kLists);
      at_ = kObjects + list * kLongest;
      left_ = 1 + list * 7 % kLongest;
    }
    --left_;
    return at_++;
  }

 private:
  uint32_t below(uint32_t end) { return uint32_t(random_()) % end; }

  std::mt19937 random_{1};
  uint32_t noise_;
  uint64_t count_ = 0;
  uint32_t at_ = 0;
  uint32_t left_ = 0;
};

// Processor time of this process.
double seconds() { return double(std::clock()) / CLOCKS_PER_SEC; }

double peak_gib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_maxrss) / (1 << 20);
}

}  // namespace

int main(int argc, char** argv) {
  const char* const pattern = argc > 1 ? argv[1] : "mixed";
  const uint64_t count = 1'000'000 * (argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 50);
  const bool random = std::strcmp(pattern, "random") == 0;
  const bool mixed = std::strcmp(pattern, "mixed") == 0;
  if (!random && !mixed && std::strcmp(pattern, "lists") != 0) {
    std::fprintf(stderr, "halo-stream-bench: the patterns are lists, mixed and random\n");
    return 2;
  }
  References references(random ? 1 : mixed ? 4 : 0);
  halo::sinks::Sequitur grammar;
  const double start = seconds();
  for (uint64_t at = 0; at < count; ++at) grammar.append(0, references.next());
  const double built = seconds();
  std::printf("%s: grammar of %.2f M symbols for %.0f M references, %.1f s, %.2f GiB\n", pattern,
              double(grammar.symbols()) / 1e6, double(count) / 1e6, built - start, peak_gib());
  const auto found = halo::sinks::find_hot_streams(grammar, {});
  std::printf("%zu streams from heat %lu on, %.1f %% covered, %.1f s, %.2f GiB\n",
              found.streams.size(), found.threshold,
              100.0 * double(found.covered) / double(found.references), seconds() - built,
              peak_gib());
}
