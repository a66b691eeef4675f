// halo-simulate: runs a text trace through simulated caches and prints the misses of each level.
//
//   halo-simulate [--no-prefetch | --classes] SETSxWAYS[,SETSxWAYS...] < trace
//
// Trace lines: `load ADDRESS SIZE` and `store ADDRESS SIZE`, decimal, bytes. Lines are of 64 bytes.
// Prints `level NUMBER MISSES` lines. With --classes, nothing is prefetched, and it also prints
// accesses of the first level by class (miss_classes.h), and the lines that the shadow lacked.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "simulator/hierarchy.h"
#include "simulator/miss_classes.h"

namespace {

using halo::simulator::ClassCounts;
using halo::simulator::Hierarchy;
using halo::simulator::LevelSettings;
using halo::simulator::Machine;
using halo::simulator::MissClass;
using halo::simulator::MissClassifier;
using halo::simulator::Shape;

// Returns false if the text is not a list of shapes.
bool read_levels(const std::string& text, std::vector<LevelSettings>& levels) {
  std::istringstream in(text);
  std::string one;
  while (std::getline(in, one, ',')) {
    Shape shape;
    int used = 0;
    if (std::sscanf(one.c_str(), "%ux%u%n", &shape.sets, &shape.ways, &used) != 2 ||
        size_t(used) != one.size() || shape.sets == 0 || shape.ways == 0)
      return false;
    levels.push_back({one, shape, 0});
  }
  return !levels.empty();
}

int fail(const std::string& what, int status) {
  std::cerr << "halo-simulate: " << what << '\n';
  return status;
}

void print_classes(const ClassCounts& classes, uint64_t shadow_misses) {
  const char* const names[] = {"compulsory", "capacity", "conflict", "anti"};
  for (size_t at = 0; at < classes.size(); ++at)
    std::cout << names[at] << ' ' << classes[at] << '\n';
  std::cout << "shadow " << shadow_misses << '\n';
}

int simulate(int argc, char** argv) {
  Machine machine;
  machine.tlbs = {{"DTLB", {16, 4}, 0}};
  int at = 1;
  const std::string option = argc > at ? argv[at] : "";
  const bool classify = option == "--classes";
  if (classify || option == "--no-prefetch") {
    machine.next_line = machine.streams = false;
    ++at;
  }
  if (argc != at + 1 || !read_levels(argv[at], machine.caches))
    return fail("usage: halo-simulate [--no-prefetch | --classes] SETSxWAYS[,SETSxWAYS...] < trace",
                2);
  Hierarchy hierarchy(machine);
  MissClassifier classifier(machine.caches.front().shape, machine.line);
  ClassCounts classes{};
  std::string line, verb;
  while (std::getline(std::cin, line)) {
    std::istringstream in(line);
    uint64_t address = 0;
    uint32_t size = 0;
    if (!(in >> verb >> address >> size) || size == 0 || (verb != "load" && verb != "store"))
      return fail("not understood: " + line, 1);
    const bool missed = hierarchy.access(address, size, verb == "store").cache != 0;
    const MissClass found = classify ? classifier.access(address, size, missed) : MissClass::kHit;
    if (found != MissClass::kHit) ++classes[size_t(found)];
  }
  for (size_t level = 0; level < machine.caches.size(); ++level)
    std::cout << "level " << level << ' ' << hierarchy.cache_misses(level) << '\n';
  if (classify) print_classes(classes, classifier.shadow_misses());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return simulate(argc, argv);
  } catch (const std::invalid_argument& error) {
    return fail(error.what(), 2);
  }
}
