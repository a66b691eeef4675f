// Runs every access of the program through simulated caches and TLBs: misses by context, code and
// object.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "simulator/hierarchy.h"
#include "simulator/machine.h"
#include "sinks/mapped_array.h"
#include "sinks/sink.h"

namespace halo::sinks {

// Accesses, and the number of them that missed each level; an access to two lines or pages counts
// once.
struct Tally {
  static constexpr size_t kMaxLevels = simulator::Hierarchy::kMaxLevels;

  uint64_t accesses = 0;
  uint64_t cycles = 0;  // as Hierarchy::cycles()
  std::array<uint64_t, kMaxLevels> cache_misses{}, tlb_misses{};

  void miss(simulator::Reach reach, uint32_t cost) {
    cycles += cost;
    for (size_t level = 0; level < reach.cache; ++level) ++cache_misses[level];
    for (size_t level = 0; level < reach.tlb; ++level) ++tlb_misses[level];
  }
};

// Accesses of code are not counted, only its misses.
struct CodeTally {
  uint64_t code;
  Tally tally;
};

struct ObjectTally {
  uint64_t seq;
  base::ContextId context;
  uint32_t size;
  uint32_t misses;  // of the first level
};

struct Simulation {
  bool simulated = false;
  simulator::Machine machine;
  uint64_t cycles = 0;
  std::array<uint64_t, Tally::kMaxLevels> prefetched{};  // by cache
  Tally outside;                                         // accesses outside the tracked objects
  std::vector<Tally> contexts;                           // by context
  std::vector<CodeTally> code;                           // highest cost first
  std::vector<ObjectTally> objects;                      // most misses first
  uint64_t objects_missed = 0;                           // objects that missed the first level
  uint64_t objects_for_half = 0;                         // the smallest number of them with half of
                                                         // those misses
};

// `this`, or a file that describes a machine. On an error in the file, prints it on stderr; returns
// false on any error.
bool read_machine(std::string_view text, std::optional<simulator::Machine>& machine);

// Writes the members of a machine's object, as docs/simulator.md defines them.
void write_machine(const simulator::Machine& machine, JsonWriter& json);

struct MachineOption {
  static constexpr std::string_view name = "machine";

  template <class Options>
  bool set(std::string_view text, Options& options) const {
    return read_machine(text, options.machine);
  }
};

// All threads run on one core, in the order in which their accesses are consumed. Instruction
// fetches are not simulated.
class SimulatorSink : public Sink {
 public:
  using Result = Simulation;
  using Sink::on_event;
  using Sink::Sink;

  static constexpr size_t kMaxCode = 1000;
  static constexpr size_t kMaxObjects = 100;

  struct Options {
    std::optional<simulator::Machine> machine = {};
  };
  static constexpr auto options() { return std::tuple{MachineOption{}}; }
  static bool needs_all_accesses(const Options& options) { return options.machine.has_value(); }

  void begin(const Options& options);
  Result finish() const;

  static void write(const Result& simulation, Part& part);

  void on_event(const MemoryEvent& event) {
    const uint32_t at = event.object == nullptr ? 0 : base::index(event.object->context) + 1;
    Tally& tally = tally_of(event.thread, at);
    ++tally.accesses;
    const simulator::Reach reach = hierarchy_->access(event.address, event.size, event.store);
    if ((reach.cache | reach.tlb) != 0) [[unlikely]]
      count_miss(event, reach, tally);
  }
  void on_event(const MemoryRepeatEvent& event) {
    tallies_[newest_[base::index(event.thread)]].accesses += event.count;
  }
  void on_event(const HugePagesEvent& event) {
    huge_pages_.push_back(event);
    hierarchy_->use_huge_pages(event.address, event.bytes);
  }

 private:
  struct MissedObject {
    base::ContextId context;
    uint32_t size;
    uint32_t misses;
  };
  static constexpr uint64_t kMaxAllocations = 1ULL << 30;

  // Accesses to a context's objects (its number plus one), or to no object (0).
  Tally& tally_of(base::ThreadId thread, uint32_t at) {
    if (at >= tallies_.size()) tallies_.resize(at + 1);
    if (base::index(thread) >= newest_.size()) newest_.resize(base::index(thread) + 1);
    newest_[base::index(thread)] = at;
    return tallies_[at];
  }
  void count_miss(const MemoryEvent& event, simulator::Reach reach, Tally& tally);
  void add_objects(Simulation& result) const;

  simulator::Machine machine_;
  std::unique_ptr<simulator::Hierarchy> hierarchy_;
  std::vector<HugePagesEvent> huge_pages_;  // kept by begin(): the program's requests remain in
                                            // force
  std::vector<Tally> tallies_;
  std::vector<uint32_t> newest_;  // by thread: the tally of the latest access
  std::unordered_map<uint64_t, Tally> code_;
  std::unique_ptr<MappedArray<MissedObject>> objects_;  // by number of allocation
  uint64_t objects_end_ = 0;                            // no later object has missed
};

}  // namespace halo::sinks
