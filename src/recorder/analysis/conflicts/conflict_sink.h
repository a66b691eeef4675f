// Which objects compete for the same sets of the first cache, and how close in time they are used.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/mapped_array.h"
#include "recorder/analysis/conflicts/pair_counts.h"
#include "recorder/analysis/conflicts/state_table.h"
#include "recorder/analysis/simulator_sink.h"
#include "recorder/analysis/sink.h"
#include "simulator/cache.h"
#include "simulator/machine.h"
#include "simulator/recency_list.h"
#include "simulator/regions.h"

namespace halo::sinks {

// Counts of one state. Misses and uses are of lines, so an access to two lines may count twice.
struct StateCounts {
  static constexpr size_t kLines = 16;
  static constexpr size_t kSlots = 64;  // of equal parts of the sets

  uint64_t accesses = 0;
  uint64_t compulsory = 0, capacity = 0, conflict = 0;  // misses of the first cache
  uint64_t objects = 0;
  uint64_t peak = 0;  // objects alive at the same time
  uint64_t uses = 0;  // of lines, but for that used last: of these, some are examined
  // Uses of a line with at least as many other lines since its last use as the cache has ways:
  // within the window, and beyond it. Each examined use counts for all of its period.
  uint64_t reuses = 0, far = 0;
  std::array<uint64_t, kLines> by_line{};  // accesses by line of the object; the last: the rest
  std::array<uint64_t, kSlots> by_slot{};  // uses of lines by slot; not of the line used last
};

struct RecordedState {
  ObjectState state;
  StateCounts counts;
};

struct RecordedPair {
  uint32_t first, second;  // indices of Conflicts::states
  PairCount count;
};

struct Conflicts {
  bool recorded = false;
  simulator::Machine machine;
  std::vector<RecordedState> states;  // the first: outside all tracked objects
  std::vector<RecordedPair> pairs;    // by (first, second)
  // Conflict misses by slot if a line outside tracked objects was in the set.
  std::array<uint64_t, StateCounts::kSlots> outside_slots{};
  uint64_t states_left_out = 0, pairs_left_out = 0;
};

// The machine whose first cache is examined.
struct ConflictsOption {
  std::string_view name = "conflicts";

  template <class Options>
  bool set(std::string_view text, Options& options) const {
    return read_machine(text, options.machine);
  }
};

// Follows the first cache of a machine, without prefetching, line by line (Yardımcı and Kaeli,
// sections 3.1 and 3.2).
//
// A conflict miss has an edge to each line that is in the set now: just these displaced the missed
// line. So the edges of all pairs add up to the ways times the conflict misses. Collisions are the
// same for capacity misses as well: the conflicts of the paper, which does not tell them apart.
//
// Edges depend on the layout during the recording. Interference does not: the number of distinct
// lines of each state between two uses of a line. It is measured in a window of twice the cache's
// lines (the temporal relationship graph of Gloy et al., MICRO 1997, by states). Uses with fewer
// lines in between than the cache has ways never miss, and do not count.
//
// Of a state, the first 2 * kFirstPeriod uses are examined. Then the period of examined uses
// doubles as often as their number, up to kMaxPeriod, so that rare states are examined like
// frequent ones.
class ConflictSink : public Sink {
 public:
  using Result = Conflicts;
  using Sink::on_event;
  using Sink::Sink;

  static constexpr uint64_t kFirstPeriod = 1 << 19;
  static constexpr uint64_t kMaxPeriod = 64;
  static constexpr size_t kMaxStates = 4096;
  static constexpr size_t kMaxPairs = 65536;

  struct Options {
    std::optional<simulator::Machine> machine = {};
    uint32_t every_use = 0;  // 1: measure interference at each use, for tests
  };
  static constexpr auto options() {
    return std::tuple{ConflictsOption{},
                      NumberOption{"conflicts_every_use", &Options::every_use, 1u}};
  }
  static bool needs_all_accesses(const Options& options) { return options.machine.has_value(); }

  void begin(const Options& options);
  Result finish() const;

  static bool has_activity_in(const Result& result, base::ContextId context);
  static void write(const Result& conflicts, Part& part);

  void on_event(const MemoryEvent& event);
  void on_event(const MemoryRepeatEvent& event);
  void on_event(const AllocEvent& event);
  void on_event(const FreeEvent& event);
  void on_event(const ReviveEvent& event);

 private:
  // The state and the line of the object that a thread accessed last.
  struct Latest {
    uint32_t state = 0;
    uint32_t line = 0;
  };

  struct Model {
    Model(const simulator::Machine& machine, bool every);

    simulator::Shape shape;
    int line_shift;
    bool every_use;
    simulator::Regions regions;
    simulator::Cache cache;
    simulator::RecencyList shadow;  // as many lines as the cache
    simulator::RecencyList window;  // twice as many
    base::MappedArray<uint32_t> users{simulator::kEndOfNames,
                                      simulator::kEndOfNames};  // by line: the state
                                                                // that used it last
    uint64_t newest_line = UINT64_MAX;
    uint64_t uses = 0;
    PairCounts pairs;
    std::array<uint64_t, StateCounts::kSlots> outside_slots{};

    size_t slot_of(uint64_t line) const {
      return line % shape.sets * StateCounts::kSlots / shape.sets;
    }
  };

  StateCounts& counts_of(uint32_t state) {
    if (state >= counts_.size()) counts_.resize(state + 1);
    return counts_[state];
  }
  void use_line(uint64_t line, uint32_t state);
  void count_miss(simulator::Block block, uint32_t state, simulator::RecencyList::Found found);
  void measure_interference(uint32_t name, uint32_t state, simulator::RecencyList::Found found,
                            uint64_t weight);
  void change_live(const Object* object, int change);

  simulator::Machine machine_;
  std::unique_ptr<Model> model_;
  StateTable table_;
  std::vector<StateCounts> counts_;   // by state
  std::vector<uint64_t> live_;        // objects by state
  std::vector<Latest> latest_;        // by thread
  std::vector<uint32_t> lines_seen_;  // by state, all 0 between uses
  std::vector<uint32_t> seen_;        // the states that it counts
};

}  // namespace halo::sinks
