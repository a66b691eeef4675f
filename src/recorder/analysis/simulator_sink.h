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

#include "base/mapped_array.h"
#include "recorder/analysis/sink.h"
#include "simulator/hierarchy.h"
#include "simulator/line_uses.h"
#include "simulator/machine.h"
#include "simulator/miss_classes.h"

namespace halo::sinks {

// Accesses, and the number of them that missed each level; an access to two lines or pages counts
// once.
struct Tally {
  static constexpr size_t kMaxLevels = simulator::Hierarchy::kMaxLevels;

  uint64_t accesses = 0;
  uint64_t cycles = 0;  // as Hierarchy::cycles()
  std::array<uint64_t, kMaxLevels> cache_misses{}, tlb_misses{};
  simulator::ClassCounts classes{};  // of the first cache, if asked for

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
  bool classified = false;  // tallies have classes of misses, and there are hot lines
  simulator::Machine machine;
  uint64_t cycles = 0;
  std::array<uint64_t, Tally::kMaxLevels> prefetched{};  // by cache
  Tally outside;                                         // accesses outside the tracked objects
  std::vector<Tally> contexts;                           // by context
  std::vector<CodeTally> code;                           // highest cost first
  std::vector<ObjectTally> objects;                      // most misses first
  simulator::HotLines hot_lines;                         // in the first cache
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
  std::string_view name = "machine";

  template <class Options>
  bool set(std::string_view text, Options& options) const {
    return read_machine(text, options.machine);
  }
};

// With classes, prefetching is off: it would turn compulsory misses into hits that have no class.
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
    // 1: classify misses of the first cache, prefetch nothing, and find the hot lines
    uint32_t classes = 0;
  };
  static constexpr auto options() {
    return std::tuple{MachineOption{}, NumberOption{"classes", &Options::classes, 1u}};
  }
  static bool needs_all_accesses(const Options& options) { return options.machine.has_value(); }

  void begin(const Options& options);
  Result finish() const;

  static void write(const Result& simulation, Part& part);

  void on_event(const MemoryEvent& event) {
    if (hierarchy_ == nullptr) return;  // another sink asked for all accesses
    const uint32_t at = event.object == nullptr ? 0 : base::index(event.object->context) + 1;
    Tally& tally = tally_of(event.thread, at);
    ++tally.accesses;
    const simulator::Reach reach = hierarchy_->access(event.address, event.size, event.store);
    if (classifier_ != nullptr) classify(event, reach, tally);
    if ((reach.cache | reach.tlb) != 0) [[unlikely]]
      count_miss(event, reach, tally);
  }
  void on_event(const MemoryRepeatEvent& event) {
    if (hierarchy_ == nullptr) return;
    tallies_[newest_[base::index(event.thread)]].accesses += event.count;
  }
  void on_event(const HugePagesEvent& event) {
    huge_pages_.push_back(event);
    if (hierarchy_ == nullptr) return;
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
  void classify(const MemoryEvent& event, simulator::Reach reach, Tally& tally) {
    const auto found = classifier_->access(event.address, event.size, reach.cache != 0);
    if (found != simulator::MissClass::kHit) ++tally.classes[size_t(found)];
    line_uses_->use(event.address, event.size);
  }
  void count_miss(const MemoryEvent& event, simulator::Reach reach, Tally& tally);
  void add_objects(Simulation& result) const;

  simulator::Machine machine_;
  std::unique_ptr<simulator::Hierarchy> hierarchy_;
  std::unique_ptr<simulator::MissClassifier> classifier_;  // null unless asked for
  std::unique_ptr<simulator::LineUses> line_uses_;         // null without classifier
  std::vector<HugePagesEvent> huge_pages_;  // kept by begin(): the program's requests remain in
                                            // force
  std::vector<Tally> tallies_;
  std::vector<uint32_t> newest_;  // by thread: the tally of the latest access
  std::unordered_map<uint64_t, Tally> code_;
  std::unique_ptr<base::MappedArray<MissedObject>> objects_;  // by number of allocation
  uint64_t objects_end_ = 0;                                  // no later object has missed
};

}  // namespace halo::sinks
