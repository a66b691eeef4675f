// Every access of the program through simulated caches and TLBs: misses by context, code, object.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "simulator/hierarchy.h"
#include "sinks/mapped_array.h"
#include "sinks/sink.h"

namespace halo::sinks {

// Accesses, and how many of them each level did not have; one of two lines or pages counts once.
struct Tally {
  static constexpr size_t kMostLevels = simulator::Hierarchy::kMostLevels;

  uint64_t accesses = 0;
  uint64_t cycles = 0;  // as Hierarchy::cycles()
  std::array<uint64_t, kMostLevels> cache_misses{}, tlb_misses{};

  void miss(simulator::Reach reach, uint32_t cost) {
    cycles += cost;
    for (size_t level = 0; level < reach.cache; ++level) ++cache_misses[level];
    for (size_t level = 0; level < reach.tlb; ++level) ++tlb_misses[level];
  }
};

// `accesses` of code is not counted: only its misses are.
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
  std::array<uint64_t, Tally::kMostLevels> prefetched{};  // by cache
  Tally outside;                                          // the tracked objects
  std::vector<Tally> contexts;                            // by context
  std::vector<CodeTally> code;                            // what costs most first
  std::vector<ObjectTally> objects;                       // what misses most first
  uint64_t objects_missed = 0;                            // objects that missed the first level
  uint64_t objects_for_half = 0;  // so few of them have half of those misses
};

// All threads run on one core, in the order in which their accesses are consumed. An instruction's
// own fetch is no access.
class SimulatorSink : public Sink {
 public:
  using Result = Simulation;
  using Sink::on_event;
  using Sink::Sink;

  static constexpr size_t kMostCode = 1000;
  static constexpr size_t kMostObjects = 100;

  void begin(const Parameters& parameters);
  Result finish() const;

  void on_event(const MemoryEvent& event) {
    const uint32_t at = event.object == nullptr ? 0 : base::index(event.object->context) + 1;
    Tally& tally = tally_of(event.thread, at);
    ++tally.accesses;
    const simulator::Reach reach = hierarchy_->access(event.address, event.size, event.store);
    if ((reach.cache | reach.tlb) != 0) [[unlikely]]
      note_miss(event, reach, tally);
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
  static constexpr uint64_t kMostAllocations = 1ULL << 30;

  // Of the accesses to a context's objects (its number plus one), or to none (0).
  Tally& tally_of(base::ThreadId thread, uint32_t at) {
    if (at >= tallies_.size()) tallies_.resize(at + 1);
    if (base::index(thread) >= newest_.size()) newest_.resize(base::index(thread) + 1);
    newest_[base::index(thread)] = at;
    return tallies_[at];
  }
  void note_miss(const MemoryEvent& event, simulator::Reach reach, Tally& tally);
  void add_objects(Simulation& result) const;

  simulator::Machine machine_;
  std::unique_ptr<simulator::Hierarchy> hierarchy_;
  std::vector<HugePagesEvent> huge_pages_;  // what was asked for outlives a new beginning
  std::vector<Tally> tallies_;
  std::vector<uint32_t> newest_;  // by thread: whose tally the latest access is in
  std::unordered_map<uint64_t, Tally> code_;
  std::unique_ptr<MappedArray<MissedObject>> objects_;  // by number of allocation
  uint64_t objects_end_ = 0;                            // none has missed from here on
};

}  // namespace halo::sinks
