// halo-simulator-bench: accesses per second that one core simulates, on this machine's caches.
//
//   halo-simulator-bench [--classes] [MILLIONS]
//   halo-simulator-bench [--classes] MILLIONS TRACE
//
// Without TRACE, three patterns of four accesses to each object: objects in order, a list whose
// nodes are shuffled inside each page, and random objects of 64 MiB. With TRACE, the first MILLIONS
// accesses of a program, as valgrind's lackey writes them with --trace-mem=yes; - reads stdin. With
// --classes, misses are classified, and nothing is prefetched.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "simulator/hierarchy.h"
#include "simulator/miss_classes.h"

namespace {

using halo::simulator::Hierarchy;
using halo::simulator::Machine;
using halo::simulator::MissClassifier;

constexpr uint64_t kObjects = 1 << 20;
constexpr uint64_t kStep = 64;
constexpr uint64_t kObjectsOfPage = 4096 / kStep;

struct Access {
  uint64_t address;
  uint32_t size;
  bool store;
};

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

// A hierarchy, and a classifier of its misses if asked for.
struct Caches {
  Hierarchy hierarchy;
  std::optional<MissClassifier> classifier;

  Caches(const Machine& machine, bool classes) : hierarchy(machine) {
    if (classes) classifier.emplace(machine.caches.front().shape, machine.line);
  }
  void access(uint64_t address, uint32_t size, bool store) {
    const bool missed = hierarchy.access(address, size, store).cache != 0;
    if (classifier) classifier->access(address, size, missed);
  }
};

// Runs `simulate` on caches of this machine and prints their speed.
template <class Simulate>
void measure(const char* name, bool classes, const Simulate& simulate) {
  Machine machine = halo::simulator::this_machine();
  if (classes) machine.next_line = machine.streams = false;
  Caches caches(machine, classes);
  const std::clock_t start = std::clock();
  simulate(caches);
  const double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
  const auto accesses = double(caches.hierarchy.accesses());
  std::printf("%s: %.1f M accesses/s, %.1f %% of them miss the first level\n", name,
              accesses / seconds / 1e6,
              100.0 * double(caches.hierarchy.cache_misses(0)) / accesses);
}

void measure_patterns(uint64_t accesses, bool classes) {
  const char* const names[] = {"in order", "shuffled in pages", "random"};
  for (int kind = 0; kind < 3; ++kind) {
    const std::vector<uint32_t> order = pattern(kind);
    measure(names[kind], classes, [&](Caches& caches) {
      while (caches.hierarchy.accesses() < accesses) {
        for (const uint32_t object : order) {
          const uint64_t address = 0x10000000 + object * kStep;
          for (uint64_t field = 0; field < 4; ++field)
            caches.access(address + field * 8, 8, field == 3);
        }
      }
    });
  }
}

// Lines are ` L ADDRESS,SIZE`, ` S` and ` M` (both) alike; all others are left out.
std::vector<Access> read_trace(std::istream& in, uint64_t maximum) {
  std::vector<Access> found;
  std::string line;
  while (found.size() < maximum && std::getline(in, line)) {
    unsigned long address = 0;
    unsigned size = 0;
    char kind = 0;
    if (line.empty() || line[0] != ' ' ||
        std::sscanf(line.c_str(), " %c %lx,%u", &kind, &address, &size) != 3 || size == 0)
      continue;
    if (kind != 'S') found.push_back({address, size, false});
    if (kind != 'L') found.push_back({address, size, true});
  }
  return found;
}

int measure_trace(const std::string& path, uint64_t maximum, bool classes) {
  std::ifstream file(path);
  const std::vector<Access> trace = read_trace(path == "-" ? std::cin : file, maximum);
  if (trace.empty()) {
    std::cerr << "halo-simulator-bench: no accesses in " << path << '\n';
    return 1;
  }
  measure(path.c_str(), classes, [&](Caches& caches) {
    for (const Access& access : trace) caches.access(access.address, access.size, access.store);
  });
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bool classes = argc > 1 && std::string(argv[1]) == "--classes";
  if (classes) {
    ++argv;
    --argc;
  }
  const uint64_t accesses = (argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100) * 1'000'000;
  if (argc > 2) return measure_trace(argv[2], accesses, classes);
  measure_patterns(accesses, classes);
  return 0;
}
