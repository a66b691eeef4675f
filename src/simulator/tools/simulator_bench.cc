// halo-simulator-bench: how many accesses a second one core simulates, on this machine's caches.
//
//   halo-simulator-bench [MILLIONS]
//
// Three patterns: objects walked in order, a list whose nodes are shuffled inside each page, and
// objects taken at random from 64 MiB; each object is accessed four times.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

#include "simulator/hierarchy.h"

namespace {

using halo::simulator::Hierarchy;

constexpr uint64_t kObjects = 1 << 20;
constexpr uint64_t kStep = 64;
constexpr uint64_t kObjectsOfPage = 4096 / kStep;

std::vector<uint32_t> pattern(int kind) {
  std::vector<uint32_t> order(kObjects);
  std::iota(order.begin(), order.end(), 0u);
  std::mt19937 random(1);
  if (kind == 1) {
    for (size_t page = 0; page < kObjects; page += kObjectsOfPage)
      std::shuffle(&order[page], &order[page] + kObjectsOfPage, random);
  } else if (kind == 2) {
    std::shuffle(order.begin(), order.end(), random);
  }
  return order;
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t millions = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100;
  const char* const names[] = {"in order", "shuffled in pages", "random"};
  for (int kind = 0; kind < 3; ++kind) {
    const std::vector<uint32_t> order = pattern(kind);
    Hierarchy hierarchy(halo::simulator::this_machine());
    const auto start = std::chrono::steady_clock::now();
    for (uint64_t done = 0; done < millions * 1'000'000;) {
      for (const uint32_t object : order) {
        const uint64_t address = 0x10000000 + object * kStep;
        for (uint64_t field = 0; field < 4; ++field)
          hierarchy.access(address + field * 8, 8, field == 3);
        done += 4;
      }
    }
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("%s: %.1f M accesses/s, %.1f %% of them miss the first level\n", names[kind],
                double(hierarchy.accesses()) / seconds / 1e6,
                100.0 * double(hierarchy.cache_misses(0)) / double(hierarchy.accesses()));
  }
}
