// A driver for fuzz targets that needs no special compiler: seeded inputs, each batch in a forked
// process, so that a crash costs one execution.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace halo::fuzz {

using Input = std::vector<uint8_t>;
using Random = std::mt19937_64;

struct Target {
  const char* name;
  unsigned batch;  // executions that share a process; 1 if they leave state behind
  Input (*make)(Random& random);
  void (*run)(std::span<const uint8_t> input);
};

// The `main` of a fuzzer:
//   FUZZER --seconds N [--seed S] [--keep FOLDER]   run that long; inputs of findings go to FOLDER
//   FUZZER FILE...                                  run these inputs, in this very process
// Exit status: 0, no finding; 1, findings; 2, wrong usage.
int drive(int argc, char** argv, const Target& target);

}  // namespace halo::fuzz
