// halo-colours: whether the colours of page frames matter for the caches of this machine.
//
// For each level of the cache behind the first, lines of pages of one colour are chased, and lines
// of as many pages of all colours. If the first do not fit into their sets, they take longer.
// Writes JSON to standard output. Exit status: as in base/tool.h; 3: the kernel hides the frames.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <optional>
#include <vector>

#include "base/json/writer.h"
#include "base/tool.h"
#include "simulator/machine.h"
#include "studies/pollution/colours/chase.h"
#include "studies/pollution/colours/page_choice.h"
#include "studies/pollution/colours/page_frames.h"

namespace {

using namespace halo::colours;
using halo::JsonWriter;
using halo::ToolStatus;
using halo::simulator::Machine;

constexpr size_t kMaxPages = size_t{64} << 10;  // 256 MiB
constexpr int kRounds = 9;
constexpr size_t kMinLoads = 200'000;

struct Level {
  uint64_t colours;  // 0: frames do not decide about sets
  size_t pages;      // that are chased: half more than fit into the sets of a colour
};

// The pages also exceed the level before, which would serve them otherwise.
Level level_of(const Machine& machine, size_t number) {
  const halo::simulator::Shape shape = machine.caches[number].shape;
  const halo::simulator::Shape before = machine.caches[number - 1].shape;
  const uint64_t way_pages = uint64_t{shape.sets} * machine.line / kPageBytes;
  if (!std::has_single_bit(uint64_t{shape.sets}) || way_pages < 2) return {0, 0};
  const size_t inner =
      number == 1 ? 0 : size_t{before.sets} * before.ways * machine.line / kPageBytes;
  return {way_pages, std::max<size_t>(shape.ways, inner) * 3 / 2};
}

struct Times {
  double same_ns, spread_ns;
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + long(values.size() / 2), values.end());
  return values[values.size() / 2];
}

Times measure(const ResidentPages& pages, const PageChoice& chosen) {
  std::vector<double> same, spread;
  const size_t loads = std::max(kMinLoads, 2 * chosen.same.size() * kPageBytes / kLineBytes);
  for (int round = 0; round < kRounds; ++round) {
    link_lines(pages, chosen.same, uint64_t(round));
    chase(pages, chosen.same[0], loads / 2);
    same.push_back(chase(pages, chosen.same[0], loads));
    link_lines(pages, chosen.spread, uint64_t(round));
    chase(pages, chosen.spread[0], loads / 2);
    spread.push_back(chase(pages, chosen.spread[0], loads));
  }
  return {median(same), median(spread)};
}

ToolStatus run() {
  const Machine machine = halo::simulator::this_machine();
  JsonWriter json(stdout);
  bool hidden = false;
  json.value([&] {
    json.key("levels");
    json.list([&] {
      for (size_t number = 1; number < machine.caches.size(); ++number) {
        const Level level = level_of(machine, number);
        const size_t wanted = level.pages * level.colours * 5 / 4 + 64;
        std::optional<Times> times;
        if (level.colours != 0 && wanted <= kMaxPages) {
          const ResidentPages pages(wanted);
          const std::vector<uint64_t> frames = pages.frames();
          hidden |= frames[0] == 0;
          if (const auto chosen = choose_pages(frames, level.colours, level.pages))
            times = measure(pages, *chosen);
        }
        json.value([&] {
          json.fields("name", machine.caches[number].name, "colours", level.colours, "pages",
                      uint64_t{level.pages}, "tested", times.has_value());
          json.key("same_ns");
          json.value(times ? times->same_ns : 0, 3);
          json.key("spread_ns");
          json.value(times ? times->spread_ns : 0, 3);
        });
      }
    });
  });
  putchar('\n');
  if (hidden) throw std::runtime_error("the kernel hides page frames; they need CAP_SYS_ADMIN");
  return fflush(stdout) == 0 && ferror(stdout) == 0 ? ToolStatus::kDone : ToolStatus::kCannotWork;
}

}  // namespace

int main(int argc, char**) {
  if (argc != 1) {
    fputs("usage: halo-colours\n", stderr);
    return int(ToolStatus::kUsage);
  }
  return halo::run_tool("halo-colours", run);
}
