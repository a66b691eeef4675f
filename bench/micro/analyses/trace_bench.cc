// halo-trace-bench: bytes per event, and events per second, of packing and unpacking synthetic
// programs or the events of a trace.
//
//   halo-trace-bench [MILLIONS [EVENTS_A_BLOCK]]
//   halo-trace-bench TRACE
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#include "tools/synthetic_events.h"
#include "tracing/format/trace_reader.h"

using namespace halo::trace;
using namespace halo::trace;

namespace {

struct Block {
  uint32_t thread;
  std::vector<Logged> events;
};

struct Work {
  std::string name;
  std::vector<SiteTraits> sites;
  std::vector<Block> blocks;
};

// Processor time of this process.
double seconds() { return double(std::clock()) / CLOCKS_PER_SEC; }

bool same(const Logged& a, const Logged& b) {
  return a.site == b.site && a.word1 == b.word1 && a.word2 == b.word2;
}

class Measurement {
 public:
  explicit Measurement(const std::vector<SiteTraits>& sites) {
    if (!packer_.ok() || !packer_.add_sites(sites)) throw std::bad_alloc();
    unpacker_.add_sites(sites);
  }

  // Returns false if unpacking gave other events.
  bool pass(const Block& block) {
    const double start = seconds();
    const auto packed = packer_.pack(block.thread, block.events);
    const double between = seconds();
    unpacker_.unpack(block.thread, packed, back_);
    unpacking_ += seconds() - between;
    packing_ += between - start;
    events_ += double(block.events.size());
    bytes_ += double(packed.size());
    return std::equal(back_.begin(), back_.end(), block.events.begin(), block.events.end(), same);
  }

  void print(const char* name) const {
    std::printf("%-8s %6.2f bytes an event, packing %5.1f ns, unpacking %5.1f ns (%.1f M events)\n",
                name, bytes_ / events_, packing_ * 1e9 / events_, unpacking_ * 1e9 / events_,
                events_ / 1e6);
  }

 private:
  Packer packer_;
  Unpacker unpacker_;
  std::vector<Logged> back_;
  double packing_ = 0, unpacking_ = 0, events_ = 0, bytes_ = 0;
};

bool measure(const Work& work) {
  Measurement measurement(work.sites);
  for (const Block& block : work.blocks) {
    if (measurement.pass(block)) continue;
    std::fprintf(stderr, "halo-trace-bench: %s is not the same after unpacking\n",
                 work.name.c_str());
    return false;
  }
  measurement.print(work.name.c_str());
  return true;
}

Work synthetic(std::string_view pattern, size_t count, size_t block) {
  SyntheticProgram program(pattern, 1);
  const std::vector<Logged> events = program.run(count);
  Work work{std::string(pattern), program.sites(), {}};
  for (size_t at = 0; at < events.size(); at += block) {
    const auto begin = events.begin() + ptrdiff_t(at);
    work.blocks.push_back({0, {begin, begin + ptrdiff_t(std::min(block, events.size() - at))}});
  }
  return work;
}

// Keeps all events in memory.
class Collector : public TraceVisitor {
 public:
  void module(const Module& module) override {
    for (size_t at = 0; at < module.sites.size(); at += sizeof(Site)) {
      Site site;
      std::memcpy(&site, module.sites.data() + at, sizeof site);
      work.sites.push_back({.kind = uint8_t(site.kind), .size = site.size});
    }
  }
  void events(uint32_t thread, std::span<const Logged> events) override {
    work.blocks.push_back({thread, {events.begin(), events.end()}});
  }
  Work work;
};

bool measure_trace(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  Collector collector;
  try {
    TraceReader(file).read(collector);
  } catch (const TraceError& error) {
    std::fprintf(stderr, "halo-trace-bench: %s: %s\n", path, error.what());
    return false;
  }
  close(file);
  collector.work.name = "trace";
  return measure(collector.work);
}

}  // namespace

int main(int argc, char** argv) {
  const size_t millions = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 4;
  const size_t block = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 16384;
  if (argc == 2 && millions == 0) return measure_trace(argv[1]) ? 0 : 1;
  if (millions == 0 || block == 0 || block > Packer::kMaxEvents) {
    std::fprintf(stderr,
                 "usage: halo-trace-bench TRACE\n"
                 "       halo-trace-bench [MILLIONS [EVENTS_A_BLOCK]], at most %zu\n",
                 Packer::kMaxEvents);
    return 2;
  }
  for (const std::string_view pattern : SyntheticProgram::kPatterns) {
    if (!measure(synthetic(pattern, millions * 1000000, block))) return 1;
  }
}
