// The program of bench/switch_cost.py: changes the page frames of a chunk, while another thread
// reads it.
//
// switch-cost MIB ROUNDS. Writes JSON to standard output: for each round the milliseconds of the
// switch (wall time, and processor time of the switching thread), and those of the search for
// frames before it. Exit status 1: the content changed, or not all pages were switched; 3: the
// kernel refuses.
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "studies/pollution/page_frames/broker.h"
#include "studies/pollution/traps/traps.h"

namespace {

using halo::frames::Broker;
using halo::frames::Coloured;
using halo::frames::ColourRange;
using halo::frames::FrameStock;
using halo::frames::kPageBytes;
using halo::frames::Refusal;

constexpr ColourRange kFirst = {0, 32, 256}, kSecond = {32, 64, 256};
constexpr size_t kWords = kPageBytes / sizeof(uint64_t);

double milliseconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return double(time.tv_sec) * 1e3 + double(time.tv_nsec) / 1e6;
}

struct Round {
  double switch_ms, processor_ms, search_ms;
};

struct Results {
  std::vector<Round> rounds;
  const char* refusal = nullptr;
  bool complete = true;
};

class Ignoring : public halo::traps::Listener {
  void accessed(uintptr_t) override {}
  void lost(uintptr_t) override {}
  void rung() override {}
};

class Chunk {
 public:
  explicit Chunk(size_t pages)
      : pages_(pages),
        words_(static_cast<uint64_t*>(mmap(nullptr, pages * kPageBytes, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    madvise(words_, pages * kPageBytes, MADV_NOHUGEPAGE);
    for (size_t at = 0; at < pages_ * kWords; ++at) words_[at] = value(at);
  }
  uintptr_t begin() const { return reinterpret_cast<uintptr_t>(words_); }
  uintptr_t end() const { return begin() + pages_ * kPageBytes; }
  size_t pages() const { return pages_; }
  bool is_intact() const {
    const volatile uint64_t* const words = words_;
    for (size_t at = 0; at < pages_ * kWords; ++at)
      if (words[at] != value(at)) return false;
    return true;
  }

 private:
  static uint64_t value(size_t at) { return at * 0x9e3779b97f4a7c15 + 1; }

  size_t pages_;
  uint64_t* words_;
};

Round switch_once(Broker& broker, const Chunk& chunk, Results& results) {
  const double begin = milliseconds(CLOCK_MONOTONIC);
  broker.prepare(chunk.pages());
  const double found = milliseconds(CLOCK_MONOTONIC);
  const double processor = milliseconds(CLOCK_THREAD_CPUTIME_ID);
  const Coloured coloured = broker.colour(chunk.begin(), chunk.end(), false);
  const double end = milliseconds(CLOCK_MONOTONIC);
  results.complete &= coloured.failed == 0;
  return {end - found, milliseconds(CLOCK_THREAD_CPUTIME_ID) - processor, found - begin};
}

void serve(const Chunk& chunk, size_t rounds, Results& results) {
  halo::traps::Traps traps(16);
  if (const auto refusal = traps.open(); refusal != halo::traps::Refusal::kNone) {
    results.refusal = text_of(refusal);
    return;
  }
  Broker first(kFirst, traps), second(kSecond, traps);
  const Refusal refusal = std::max(first.open(), second.open());
  if (refusal != Refusal::kNone) results.refusal = text_of(refusal);
  Ignoring listener;
  for (size_t round = 0; round < rounds && refusal == Refusal::kNone; ++round) {
    results.rounds.push_back(switch_once(round % 2 == 0 ? first : second, chunk, results));
    traps.wait(1'000'000, listener);
  }
  first.close();
  second.close();
  traps.close();
}

}  // namespace

int main(int argc, char** argv) {
  const size_t pages = argc == 3 ? strtoul(argv[1], nullptr, 10) * 256 : 0;
  const size_t rounds = argc == 3 ? strtoul(argv[2], nullptr, 10) : 0;
  if (pages == 0 || pages > FrameStock::kCapacity || rounds == 0) {
    fputs("usage: switch-cost MIB ROUNDS, with at most 8 MiB\n", stderr);
    return 2;
  }
  if (halo::frames::probe_frames() != Refusal::kNone) {
    fprintf(stderr, "switch-cost: %s\n", text_of(halo::frames::probe_frames()));
    return 3;
  }
  const Chunk chunk(pages);
  std::atomic<bool> ends{false};
  std::atomic<bool> intact{true};
  uint64_t passes = 0;
  std::thread reader([&] {
    for (; !ends; ++passes)
      if (!chunk.is_intact()) intact = false;
  });
  Results results;
  results.rounds.reserve(rounds);
  std::thread(serve, std::cref(chunk), rounds, std::ref(results)).join();
  ends = true;
  reader.join();
  if (results.refusal != nullptr) {
    fprintf(stderr, "switch-cost: %s\n", results.refusal);
    return 3;
  }
  printf("{\"passes\": %lu, \"rounds\": [", passes);
  for (const Round& round : results.rounds)
    printf("%s[%.4f, %.4f, %.4f]", &round == results.rounds.data() ? "" : ", ", round.switch_ms,
           round.processor_ms, round.search_ms);
  printf("]}\n");
  return intact && chunk.is_intact() && results.complete ? 0 : 1;
}
