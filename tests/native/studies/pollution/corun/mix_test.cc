// One program alone is what the simulator says; several ones are merged by their clocks.
#include "studies/pollution/corun/mix.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "studies/pollution/corun/mapping.h"
#include "synthetic_program.h"

namespace halo::corun {
namespace {

// The whole hierarchy in one piece, as `halo study eval simulate` has it.
struct Simulated : objects::Visitor {
  explicit Simulated(const simulator::Machine& machine)
      : levels(machine.caches.size()), hierarchy(machine) {}

  void allocate(const objects::Allocation& one) {
    if (one.number >= addresses.size()) addresses.resize(one.number + 1);
    addresses[one.number] = one.address;
  }
  void access(base::ThreadId thread, uint64_t number, uint32_t offset, uint32_t size, bool store) {
    access_outside(thread, addresses[number] + offset, size, store);
  }
  void access_outside(base::ThreadId, uint64_t address, uint32_t size, bool store) {
    const uint8_t reach = hierarchy.access(address, size, store).cache;
    reached += reach + 1u >= levels;
    missed += reach == levels;
  }
  void repeat(base::ThreadId, uint64_t count) { repeats += count; }

  size_t levels;
  simulator::Hierarchy hierarchy;
  std::vector<uint64_t> addresses;
  uint64_t reached = 0, missed = 0, repeats = 0;
};

std::vector<ProgramResult> run(const simulator::Machine& machine,
                               const std::vector<const Stream*>& programs, Classes classes,
                               uint64_t seed) {
  const Colours colours = colours_of(machine);
  return run_mix(machine, colours, programs,
                 confined_owners(machine, colours, programs, classes, seed), seed);
}

TEST(Mix, OfOneProgramIsTheSimulation) {
  for (const bool prefetches : {false, true}) {
    const simulator::Machine machine = small_machine(prefetches);
    const Stream stream = stream_of_program(settings_for(machine), 1, 200000);
    Simulated whole(machine);
    run_program(whole, 1, 200000);
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      const ProgramResult found = run(machine, {&stream}, Classes::kOpen, seed).front();
      EXPECT_EQ(whole.reached, found.demands);
      EXPECT_EQ(whole.missed, found.missed_demands);
      EXPECT_EQ(whole.hierarchy.accesses() + whole.repeats + whole.hierarchy.cycles(),
                found.cycles);
      EXPECT_EQ(1u, found.runs);
    }
    EXPECT_LT(1000u, whole.missed);
    EXPECT_LT(1000u, whole.reached - whole.missed);
  }
}

TEST(Mix, OfOneProgramHasTheCountsOfItsRecording) {
  const StreamSettings settings = settings_for(small_machine(true));
  const TemporaryFile file;
  const StreamSummary recorded = write_program(settings, 2, 50000, file.path());
  const Stream stream = read_stream(file.path());
  const ProgramResult found = run(settings.machine, {&stream}, Classes::kOpen, 7).front();
  EXPECT_EQ(recorded.cycles, found.cycles);
  EXPECT_EQ(recorded.requests, found.accesses);
  EXPECT_EQ(recorded.misses, found.misses);
}

TEST(Mix, LastsUntilEachHasEndedOnce) {
  const StreamSettings settings = settings_for(small_machine(false));
  const Stream longer = stream_of_program(settings, 1, 50000);
  const Stream shorter = stream_of_program(settings, 2, 4000);
  const auto found = run(settings.machine, {&longer, &shorter}, Classes::kOpen, 1);
  EXPECT_EQ(1u, found[0].runs);
  EXPECT_LT(5u, found[1].runs);
  EXPECT_LT(found[1].cycles, found[0].cycles / 5);
  const auto alone = run(settings.machine, {&longer}, Classes::kOpen, 1);
  EXPECT_LT(alone[0].cycles, found[0].cycles) << "they compete for the last level";
  EXPECT_EQ(alone[0].accesses, found[0].accesses) << "the private levels are not shared";
}

TEST(Mix, ConfinedObjectsMissMore) {
  const StreamSettings settings = settings_for(small_machine(false));
  const Stream stream = stream_of_program(settings, 1, 50000);
  const auto open = run(settings.machine, {&stream}, Classes::kOpen, 1);
  const auto confined = run(settings.machine, {&stream}, Classes::kConfined, 1);
  EXPECT_LT(open[0].misses, confined[0].misses);
  EXPECT_EQ(open[0].accesses, confined[0].accesses);
}

TEST(Mix, EqualSeedsAreEqualRuns) {
  const StreamSettings settings = settings_for(small_machine(false));
  const Stream one = stream_of_program(settings, 1, 20000);
  const Stream two = stream_of_program(settings, 2, 20000);
  const auto cycles = [&](uint64_t seed) {
    return run(settings.machine, {&one, &two}, Classes::kOpen, seed)[0].cycles;
  };
  EXPECT_EQ(cycles(3), cycles(3));
  EXPECT_NE(cycles(3), cycles(4));
}

TEST(Colours, AreAPowerOfTwoOfALastLevel) {
  simulator::Machine machine = small_machine(false);
  EXPECT_EQ(4u, colours_of(machine).count);
  machine.caches.back().shape = {192, 4};
  EXPECT_THROW(colours_of(machine), std::invalid_argument);
  machine.caches.back().shape = {32, 4};
  EXPECT_THROW(colours_of(machine), std::invalid_argument) << "half a colour";
  machine.caches = {{"L1", {256, 4}, 0}};
  EXPECT_THROW(colours_of(machine), std::invalid_argument);
}

TEST(Colours, RestrictAnEighth) {
  simulator::Machine machine = small_machine(false);
  machine.caches.back().shape = {16384, 8};
  const Colours colours = colours_of(machine);
  EXPECT_EQ(256u, colours.count);
  EXPECT_EQ(0u, colours.first);
  EXPECT_EQ(32u, colours.end);
}

}  // namespace
}  // namespace halo::corun
