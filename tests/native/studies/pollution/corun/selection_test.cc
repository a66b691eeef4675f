// Contexts are confined if the program alone then misses less, and no others.
#include "studies/pollution/corun/selection.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "synthetic_program.h"

namespace halo::corun {
namespace {

constexpr uint32_t kTable = 1, kPictures = 2;
constexpr uint64_t kTableBytes = 40 << 10, kPictureBytes = 256 << 10;  // the last level has 64 KiB

// Sweeps through pictures, and looks entries of a table up in between.
template <class Visitor>
void decode(Visitor& program) {
  const base::ThreadId thread{0};
  constexpr uint64_t kBase = 0x7f0000000000;
  program.allocate({1, kBase, uint32_t(kTableBytes), base::ContextId(kTable)});
  program.allocate({2, kBase + (1 << 20), uint32_t(kPictureBytes), base::ContextId(kPictures)});
  base::Random random(1);
  for (uint64_t at = 0; at < 200'000; ++at) {
    program.access(thread, 2, uint32_t(at * 64 % kPictureBytes), 8, false);
    const uint64_t entry = random.below(kTableBytes / 64);
    program.access(thread, 1, uint32_t(entry * 64), 8, false);
  }
}

std::vector<uint32_t> confined_contexts(const Stream& stream, const std::vector<bool>& confined) {
  std::vector<uint32_t> found;
  for (size_t at = 0; at < confined.size(); ++at)
    if (confined[at]) found.push_back(stream.owners[at].context);
  return found;
}

TEST(Selection, ConfinesWhatDisplacesOthers) {
  const simulator::Machine machine = small_machine(false);
  const Colours colours = colours_of(machine);
  const Stream stream = stream_of(settings_for(machine), [](auto& visitor) { decode(visitor); });
  const std::vector<bool> confined = select_owners(machine, colours, stream);
  for (const uint32_t context : confined_contexts(stream, confined)) EXPECT_EQ(kPictures, context);
  const auto misses = [&](const std::vector<bool>& owners) {
    return run_mix(machine, colours, {&stream}, {owners}, 1).front().misses;
  };
  EXPECT_LT(misses(confined), misses(std::vector<bool>(stream.owners.size())) * 85 / 100);
}

TEST(Selection, ConfinesNothingThatNeedsTheCache) {
  const simulator::Machine machine = small_machine(false);
  const Stream stream =
      stream_of(settings_for(machine), [](auto& visitor) { run_program(visitor, 3, 100000); });
  const Colours colours = colours_of(machine);
  const std::vector<bool> confined = select_owners(machine, colours, stream);
  const std::vector<bool> open(stream.owners.size());
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const uint64_t before = run_mix(machine, colours, {&stream}, {open}, seed).front().misses;
    EXPECT_LE(run_mix(machine, colours, {&stream}, {confined}, seed).front().misses,
              before + before / 100);
  }
}

}  // namespace
}  // namespace halo::corun
