// The model of the first cache, and the choice of the states and pairs to keep.
#include "recorder/analysis/conflicts/conflict_sink.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace halo::sinks {

namespace {

using simulator::Block;
using simulator::RecencyList;
using Found = RecencyList::Found;

constexpr uint32_t kNoIndex = UINT32_MAX;

// A pseudo-random number, the same in each run.
uint64_t mixed(uint64_t number) {
  number *= 0x9E3779B97F4A7C15ULL;
  return number ^ number >> 32;
}

uint64_t misses_of(const StateCounts& counts) { return counts.conflict + counts.capacity; }

// Of a state's uses, the period in which one is examined.
uint64_t period_of(uint64_t uses) {
  return std::bit_floor(
      std::clamp<uint64_t>(uses / ConflictSink::kFirstPeriod, 1, ConflictSink::kMaxPeriod));
}

}  // namespace

ConflictSink::Model::Model(const simulator::Machine& machine, bool every)
    : shape(machine.caches.front().shape),
      line_shift(std::countr_zero(machine.line)),
      every_use(every),
      regions(line_shift, simulator::Regions::kShift),
      cache(shape),
      shadow(size_t{shape.sets} * shape.ways),
      window(2 * size_t{shape.sets} * shape.ways) {}

void ConflictSink::begin(const Options& options) {
  if (!options.machine) return;
  machine_ = *options.machine;
  machine_.next_line = machine_.streams = false;
  model_ = std::make_unique<Model>(machine_, options.every_use != 0);
  counts_.assign(table_.count(), {});
  for (size_t state = 0; state < live_.size(); ++state)
    counts_of(uint32_t(state)).peak = live_[state];
}

void ConflictSink::on_event(const MemoryEvent& event) {
  if (model_ == nullptr) return;  // another sink asked for all accesses
  const uint32_t state = table_.of(event.object);
  const int shift = model_->line_shift;
  const uint64_t first = event.address >> shift;
  const uint64_t last = (event.address + event.size - 1) >> shift;
  const uint64_t at =
      event.object == nullptr ? 0 : (event.address - event.object->address) >> shift;
  const auto line = uint32_t(std::min<uint64_t>(at, StateCounts::kLines - 1));
  StateCounts& counts = counts_of(state);
  ++counts.accesses;
  ++counts.by_line[line];
  if (base::index(event.thread) >= latest_.size()) latest_.resize(base::index(event.thread) + 1);
  latest_[base::index(event.thread)] = {state, line};
  use_line(first, state);
  if (last != first) use_line(last, state);
}

void ConflictSink::on_event(const MemoryRepeatEvent& event) {
  if (model_ == nullptr) return;
  if (base::index(event.thread) >= latest_.size()) latest_.resize(base::index(event.thread) + 1);
  const Latest& latest = latest_[base::index(event.thread)];
  StateCounts& counts = counts_of(latest.state);
  counts.accesses += event.count;
  counts.by_line[latest.line] += event.count;
}

void ConflictSink::on_event(const AllocEvent& event) {
  if (model_ == nullptr) return;
  ++counts_of(table_.of(event.object)).objects;
  change_live(event.object, 1);
}
void ConflictSink::on_event(const FreeEvent& event) { change_live(event.object, -1); }
void ConflictSink::on_event(const ReviveEvent& event) { change_live(event.object, 1); }

void ConflictSink::change_live(const Object* object, int change) {
  if (model_ == nullptr) return;
  const uint32_t state = table_.of(object);
  if (state >= live_.size()) live_.resize(state + 1);
  live_[state] += uint64_t(change);
  StateCounts& counts = counts_of(state);
  counts.peak = std::max(counts.peak, live_[state]);
}

// A use: an access to another line than the last one.
inline void ConflictSink::use_line(uint64_t line, uint32_t state) {
  Model& model = *model_;
  const uint32_t region = simulator::Regions::kShift - model.line_shift;
  if (line == model.newest_line) {
    model.users[uint32_t(line) + model.regions.of(line >> region).to_line] = state;
    return;
  }
  model.newest_line = line;
  StateCounts& counts = counts_of(state);
  ++counts.by_slot[model.slot_of(line)];
  const Block block = {line, uint32_t(line) + model.regions.of(line >> region).to_line};
  const Found found = model.shadow.use(block.name);
  if (!model.cache.touch_newest(block, false)) {
    count_miss(block, state, found);
    model.cache.insert(block, false);
  }
  if (state != StateTable::kOutside) {
    const uint64_t period = model.every_use ? 1 : period_of(counts.uses++);
    if ((mixed(++model.uses) & (period - 1)) == 0) {
      const Found near = model.window.holds(block.name) ? Found::kHeld : found;
      measure_interference(block.name, state, near, period);
    }
  }
  model.window.use(block.name);
  model.users[block.name] = state;
}

// `found`: where the shadow had the line.
void ConflictSink::count_miss(Block block, uint32_t state, Found found) {
  StateCounts& counts = counts_of(state);
  if (found == Found::kNever) {
    ++counts.compulsory;
    return;
  }
  const uint64_t conflict = found == Found::kHeld ? 1 : 0;
  counts.conflict += conflict;
  counts.capacity += 1 - conflict;
  Model& model = *model_;
  bool outside = false;
  model.cache.for_each_in_set(block, [&](uint32_t name) {
    const uint32_t other = model.users[name];
    outside |= other == StateTable::kOutside;
    PairCount& pair = model.pairs.of(state, other);
    pair.conflict += conflict;
    ++pair.collision;
  });
  if (outside) model.outside_slots[model.slot_of(block.number)] += conflict;
}

// `found`: whether the window has the line. The use counts for `weight` ones.
void ConflictSink::measure_interference(uint32_t name, uint32_t state, Found found,
                                        uint64_t weight) {
  if (found == Found::kNever) return;
  Model& model = *model_;
  StateCounts& counts = counts_of(state);
  if (found == Found::kDropped) {
    counts.far += weight;
    return;
  }
  lines_seen_.resize(std::max(lines_seen_.size(), table_.count()));
  uint64_t lines = 0;
  model.window.for_each_newer(name, [&](uint32_t newer) {
    const uint32_t user = model.users[newer];
    if (lines_seen_[user]++ == 0) seen_.push_back(user);
    ++lines;
  });
  const bool counted = lines >= model.shape.ways;
  if (counted) counts.reuses += weight;
  for (const uint32_t other : seen_) {
    if (counted) model.pairs.of(state, other).lines += weight * lines_seen_[other];
    lines_seen_[other] = 0;
  }
  seen_.clear();
}

Conflicts ConflictSink::finish() const {
  if (model_ == nullptr) return {};
  Conflicts result;
  result.recorded = true;
  result.machine = machine_;
  result.outside_slots = model_->outside_slots;

  // Outside first, then the states with the most misses, in the order of their numbers.
  std::vector<uint32_t> kept(counts_.size());
  std::iota(kept.begin(), kept.end(), 0u);
  const auto heavier = [&](uint32_t a, uint32_t b) {
    if (a == StateTable::kOutside || b == StateTable::kOutside) return a < b;
    const uint64_t more = misses_of(counts_[a]), less = misses_of(counts_[b]);
    return more != less ? more > less : counts_[a].accesses > counts_[b].accesses;
  };
  std::stable_sort(kept.begin(), kept.end(), heavier);
  result.states_left_out = kept.size() - std::min(kept.size(), kMaxStates);
  kept.resize(std::min(kept.size(), kMaxStates));
  std::sort(kept.begin(), kept.end());
  std::vector<uint32_t> index_of(counts_.size(), kNoIndex);
  for (const uint32_t state : kept) {
    index_of[state] = uint32_t(result.states.size());
    result.states.push_back({table_[state], counts_[state]});
  }

  model_->pairs.for_each([&](uint32_t first, uint32_t second, const PairCount& count) {
    if (index_of[first] == kNoIndex || index_of[second] == kNoIndex)
      ++result.pairs_left_out;
    else
      result.pairs.push_back({index_of[first], index_of[second], count});
  });
  const auto by_states = [](const RecordedPair& a, const RecordedPair& b) {
    return std::tie(a.first, a.second) < std::tie(b.first, b.second);
  };
  std::sort(result.pairs.begin(), result.pairs.end(), by_states);
  const auto more = [](const RecordedPair& a, const RecordedPair& b) {
    return a.count.collision + a.count.lines > b.count.collision + b.count.lines;
  };
  std::stable_sort(result.pairs.begin(), result.pairs.end(), more);
  if (result.pairs.size() > kMaxPairs) {
    result.pairs_left_out += result.pairs.size() - kMaxPairs;
    result.pairs.resize(kMaxPairs);
  }
  std::sort(result.pairs.begin(), result.pairs.end(), by_states);
  return result;
}

}  // namespace halo::sinks
