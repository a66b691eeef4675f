// Writes the section `conflicts` of the profile (docs/profile-format.md).
#include <numeric>

#include "sinks/conflicts/conflict_sink.h"

namespace halo::sinks {

namespace {

uint64_t sum_of(const std::array<uint64_t, StateCounts::kLines>& counts) {
  return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
}

void write_state(const RecordedState& one, bool outside, Part& part) {
  const StateCounts& counts = one.counts;
  part.value([&] {
    if (!outside) part.fields("context", part.index_of(one.state.context), "size", one.state.size);
    part.fields("accesses", counts.accesses, "compulsory", counts.compulsory, "capacity",
                counts.capacity, "conflict", counts.conflict, "objects", counts.objects, "peak",
                counts.peak, "reuses", counts.reuses, "far", counts.far);
    part.key("by_line");
    part.list([&] {
      uint64_t rest = sum_of(counts.by_line);
      for (size_t line = 0; rest != 0; rest -= counts.by_line[line++])
        part.value(counts.by_line[line]);
    });
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
    part.field("sampling", kSampled);
    bool outside = true;
    part.list("states", conflicts.states, [&](const RecordedState& one) {
      write_state(one, outside, part);
      outside = false;
    });
    part.list("pairs", conflicts.pairs, [&](const RecordedPair& pair) {
      part.row(pair.first, pair.second, pair.count.conflict, pair.count.collision,
               pair.count.lines);
    });
    part.key("outside_slots");
    part.list([&] {
      for (const uint64_t count : conflicts.outside_slots) part.value(count);
    });
    part.fields("states_left_out", conflicts.states_left_out, "pairs_left_out",
                conflicts.pairs_left_out);
  });
}

}  // namespace halo::sinks
