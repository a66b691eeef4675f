// halo-trace-bench: bytes an event and events a second of packing and unpacking, for made-up
// programs that do one thing each.
//
//   halo-trace-bench [MILLIONS [EVENTS_A_BLOCK]]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "trace/file/tools/made_events.h"

using namespace halo::trace;
using namespace halo::trace::file;

namespace {

// Of this process's processor time.
double seconds() { return double(std::clock()) / CLOCKS_PER_SEC; }

std::vector<std::vector<std::byte>> pack(Packer& packer, const std::vector<Logged>& events,
                                         size_t block) {
  std::vector<std::vector<std::byte>> blocks;
  for (size_t at = 0; at < events.size(); at += block) {
    const size_t count = std::min(block, events.size() - at);
    const auto packed = packer.pack(0, {events.data() + at, count});
    blocks.emplace_back(packed.begin(), packed.end());
  }
  return blocks;
}

bool same(const Logged& a, const Logged& b) {
  return a.site == b.site && a.word1 == b.word1 && a.word2 == b.word2;
}

bool measure(std::string_view pattern, size_t count, size_t block) {
  MadeProgram program(pattern, 1);
  Packer packer;
  if (!packer.ok() || !packer.add_sites(program.sites())) return false;
  Unpacker unpacker;
  unpacker.add_sites(program.sites());
  const std::vector<Logged> events = program.run(count);
  double start = seconds();
  const auto blocks = pack(packer, events, block);
  const double packing = seconds() - start;
  size_t bytes = 0, at = 0;
  double unpacking = 0;
  std::vector<Logged> back;
  for (const auto& one : blocks) {
    start = seconds();
    unpacker.unpack(0, one, back);
    unpacking += seconds() - start;
    if (!std::equal(back.begin(), back.end(), events.begin() + ptrdiff_t(at), same)) return false;
    at += back.size();
    bytes += one.size();
  }
  const double millions = double(events.size()) / 1e6;
  std::printf("%-8s %6.2f bytes an event, packing %6.1f M events/s (%4.1f ns), unpacking %6.1f\n",
              std::string(pattern).c_str(), double(bytes) / double(events.size()),
              millions / packing, packing * 1e3 / millions, millions / unpacking);
  return at == events.size();
}

}  // namespace

int main(int argc, char** argv) {
  const size_t millions = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 4;
  const size_t block = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 16384;
  if (millions == 0 || block == 0 || block > Packer::kMostEvents) {
    std::fprintf(stderr, "usage: halo-trace-bench [MILLIONS [EVENTS_A_BLOCK]], at most %zu\n",
                 Packer::kMostEvents);
    return 2;
  }
  for (const std::string_view pattern : MadeProgram::kPatterns) {
    if (measure(pattern, millions * 1000000, block)) continue;
    std::fprintf(stderr, "halo-trace-bench: %s came back otherwise\n",
                 std::string(pattern).c_str());
    return 1;
  }
}
