// halo-sink-bench: records per second that one core resolves and passes to all sinks.
//
//   halo-sink-bench [LIVE_OBJECTS] [CONTEXTS] [ACCESSES_PER_OBJECT] [DISTANCE]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "recorder/analysis/analysis.h"

using halo::base::ThreadId;
using halo::events::Kind;
using halo::events::Record;

namespace {

constexpr uint64_t kBase = 0x10000000;
constexpr uint64_t kStep = 48;

// Random objects, with a few consecutive accesses each.
std::vector<Record> random_accesses(size_t count, uint64_t objects, uint64_t per_object) {
  std::mt19937_64 random(1);
  std::vector<Record> records;
  while (records.size() < count) {
    const uint64_t address = kBase + random() % objects * kStep;
    for (uint64_t at = 0; at < per_object; ++at) {
      records.push_back(Record::access(address + at % 4 * 8, 3, false, 0, 0x401000));
    }
  }
  return records;
}

}  // namespace

int main(int argc, char** argv) {
  const auto arg = [&](int at, uint64_t otherwise) {
    return argc > at ? std::strtoull(argv[at], nullptr, 10) : otherwise;
  };
  const uint64_t objects = arg(1, 1000000), contexts = arg(2, 8), per_object = arg(3, 3);
  halo::sinks::Analysis analysis(halo::sinks::Parameters{}.with<halo::sinks::AffinitySink>(
      {.distance = uint32_t(arg(4, 128))}));
  for (uint64_t at = 0; at < objects; ++at) {
    const Record pair[] = {Record::make(Kind::kAlloc, kBase + at * kStep, 40),
                           Record::make(Kind::kContext, 0, at % contexts)};
    analysis.consume(ThreadId{0}, pair);
  }
  const std::vector<Record> records = random_accesses(1 << 22, objects, per_object);
  const auto start = std::chrono::steady_clock::now();
  constexpr int kRounds = 8;
  for (int round = 0; round < kRounds; ++round) analysis.consume(ThreadId{0}, records);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const auto graph = std::get<halo::sinks::AffinityGraph>(analysis.finish().sinks);
  std::printf("%.1f M records/s (%llu macro accesses, %zu edges)\n",
              double(records.size()) * kRounds / seconds / 1e6,
              static_cast<unsigned long long>(graph.total_accesses), graph.edges.size());
}
