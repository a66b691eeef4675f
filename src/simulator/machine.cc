// Machines from the kernel's description of the caches, and from the user's.
#include "simulator/machine.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace halo::simulator {

namespace {

// One file of the description; 0 if it is missing. Sizes have the form "48K".
uint64_t number_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  uint64_t number = 0;
  char unit = ' ';
  if (!(file >> number)) return 0;
  file >> unit;
  return unit == 'K' ? number << 10 : unit == 'M' ? number << 20 : number;
}

std::string word_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

// Its data caches, in the kernel's order; none if the kernel does not describe them.
std::vector<LevelSettings> caches_of(const std::filesystem::path& folder) {
  std::vector<LevelSettings> found;
  std::error_code error;
  for (int at = 0;; ++at) {
    const auto index = folder / std::string("index").append(std::to_string(at));
    if (!std::filesystem::exists(index, error)) break;
    if (word_in(index / "type") == "Instruction") continue;
    const uint64_t level = number_in(index / "level"), bytes = number_in(index / "size");
    const uint64_t ways = number_in(index / "ways_of_associativity");
    const uint64_t line = number_in(index / "coherency_line_size");
    if (level == 0 || level > 4 || bytes == 0 || ways == 0 || line == 0) return {};
    found.push_back({level == 1 ? "L1D" : std::string("L").append(std::to_string(level)),
                     cache_shape(bytes, uint32_t(ways), uint32_t(line)), kCacheCycles[level - 1]});
  }
  return found;
}

bool parse_line(const std::string& line, Machine& machine) {
  std::istringstream in(line);
  std::string what, word;
  LevelSettings level;
  if (!(in >> what)) return true;
  if (what == "line") return bool(in >> machine.line);
  if (what == "page") return bool(in >> machine.page);
  if (what == "memory") return bool(in >> machine.memory_cycles);
  if (what == "walk") return bool(in >> machine.walk_cycles);
  if (what == "huge") return bool(in >> machine.huge_tlb.sets >> machine.huge_tlb.ways);
  if (what == "prefetch" && in >> word && word == "next-line") return machine.next_line = true;
  if (what == "prefetch" && word == "streams") return machine.streams = true;
  if (!(in >> level.name >> level.shape.sets >> level.shape.ways >> level.cycles)) return false;
  if (level.shape.sets == 0 || level.shape.ways == 0) return false;
  if (what == "cache") machine.caches.push_back(level);
  if (what == "tlb") machine.tlbs.push_back(level);
  return what == "cache" || what == "tlb";
}

}  // namespace

Shape cache_shape(uint64_t bytes, uint32_t ways, uint32_t line) {
  return {uint32_t(std::max<uint64_t>(1, bytes / (uint64_t{ways} * line))), ways};
}

Machine typical_machine() {
  Machine machine;
  machine.caches = {{"L1D", cache_shape(32 << 10, 8, 64), kCacheCycles[0]},
                    {"L2", cache_shape(1 << 20, 16, 64), kCacheCycles[1]},
                    {"L3", cache_shape(32 << 20, 16, 64), kCacheCycles[2]}};
  machine.tlbs = {{"DTLB", {16, 4}, kTlbCycles[0]}, {"STLB", {128, 12}, kTlbCycles[1]}};
  machine.huge_tlb = {8, 4};
  return machine;
}

Machine this_machine() {
  Machine machine = typical_machine();
  std::vector<LevelSettings> found = caches_of("/sys/devices/system/cpu/cpu0/cache");
  if (!found.empty()) machine.caches = std::move(found);
  return machine;
}

Machine parse_machine(std::istream& text) {
  Machine machine;
  machine.next_line = machine.streams = false;
  std::string line;
  while (std::getline(text, line)) {
    if (!parse_line(line, machine)) throw std::invalid_argument("not understood: " + line);
  }
  return machine;
}

}  // namespace halo::simulator
