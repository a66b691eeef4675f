// Writes the section `conflicts` of the profile (docs/profile-format.md).
#include <numeric>
#include <string_view>

#include "recorder/analysis/conflicts/conflict_sink.h"

namespace halo::sinks {

namespace {

// Writes a list of counts without the zeros at its end.
template <class Counts>
void write_counts(std::string_view name, const Counts& counts, Part& part) {
  part.key(name);
  part.list([&] {
    uint64_t rest = std::accumulate(counts.begin(), counts.end(), uint64_t{0});
    for (auto at = counts.begin(); rest != 0; rest -= *at++) part.value(*at);
  });
}

void write_state(const RecordedState& one, bool outside, Part& part) {
  const StateCounts& counts = one.counts;
  part.value([&] {
    if (!outside) part.fields("context", part.index_of(one.state.context), "size", one.state.size);
    part.fields("accesses", counts.accesses, "compulsory", counts.compulsory, "capacity",
                counts.capacity, "conflict", counts.conflict, "objects", counts.objects, "peak",
                counts.peak, "reuses", counts.reuses, "far", counts.far);
    write_counts("by_line", counts.by_line, part);
    write_counts("by_slot", counts.by_slot, part);
  });
}

}  // namespace

bool ConflictSink::has_activity_in(const Result& result, base::ContextId context) {
  for (const RecordedState& one : result.states)
    if (&one != &result.states.front() && one.state.context == context) return true;
  return false;
}

void ConflictSink::write(const Result& conflicts, Part& part) {
  if (!conflicts.recorded) return;
  part.field("conflicts", [&] {
    part.field("machine", [&] { write_machine(conflicts.machine, part); });
    bool outside = true;
    part.list("states", conflicts.states, [&](const RecordedState& one) {
      write_state(one, outside, part);
      outside = false;
    });
    part.list("pairs", conflicts.pairs, [&](const RecordedPair& pair) {
      part.row(pair.first, pair.second, pair.count.conflict, pair.count.collision,
               pair.count.lines);
    });
    write_counts("outside_slots", conflicts.outside_slots, part);
    part.fields("states_left_out", conflicts.states_left_out, "pairs_left_out",
                conflicts.pairs_left_out);
  });
}

}  // namespace halo::sinks
