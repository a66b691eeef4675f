// The counts of the simulator sink.
#include "recorder/analysis/simulator_sink.h"

#include <algorithm>

namespace halo::sinks {

namespace {

bool costs_more(const CodeTally& a, const CodeTally& b) {
  return a.tally.cycles != b.tally.cycles ? a.tally.cycles > b.tally.cycles : a.code < b.code;
}

bool misses_more(const ObjectTally& a, const ObjectTally& b) {
  return a.misses != b.misses ? a.misses > b.misses : a.seq < b.seq;
}

}  // namespace

void SimulatorSink::begin(const Options& options) {
  if (!options.machine) return;
  machine_ = *options.machine;
  if (options.classes != 0) {
    machine_.next_line = machine_.streams = false;
    classifier_ =
        std::make_unique<simulator::MissClassifier>(machine_.caches.front().shape, machine_.line);
    line_uses_ = std::make_unique<simulator::LineUses>(machine_.line);
  }
  hierarchy_ = std::make_unique<simulator::Hierarchy>(machine_);
  for (const HugePagesEvent& huge : huge_pages_)
    hierarchy_->use_huge_pages(huge.address, huge.bytes);
  tallies_.assign(1, {});
  newest_.assign(newest_.size(), 0);
  code_.clear();
  objects_ = std::make_unique<base::MappedArray<MissedObject>>(kMaxAllocations, 1ULL << 16);
  objects_end_ = 0;
}

void SimulatorSink::count_miss(const MemoryEvent& event, simulator::Reach reach, Tally& tally) {
  const uint32_t cost = hierarchy_->cycles_of(reach);
  tally.miss(reach, cost);
  code_[event.code].miss(reach, cost);
  if (event.object == nullptr || reach.cache == 0) return;
  const Object& object = *event.object;
  if (object.seq >= objects_->size()) return;
  MissedObject& missed = (*objects_)[object.seq];
  missed = {object.context, object.size, missed.misses + 1};
  objects_end_ = std::max(objects_end_, object.seq + 1);
}

Simulation SimulatorSink::finish() const {
  if (hierarchy_ == nullptr) return {};
  Simulation result;
  result.simulated = true;
  result.classified = classifier_ != nullptr;
  if (result.classified)
    result.hot_lines = line_uses_->hot_lines(machine_.caches.front().shape.sets);
  result.machine = machine_;
  result.cycles = hierarchy_->cycles();
  result.outside = tallies_.front();
  result.contexts.assign(tallies_.begin() + 1, tallies_.end());
  for (size_t level = 0; level < machine_.caches.size(); ++level)
    result.prefetched[level] = hierarchy_->prefetched(level);
  for (const auto& [code, tally] : code_) result.code.push_back({code, tally});
  std::sort(result.code.begin(), result.code.end(), costs_more);
  result.code.resize(std::min(result.code.size(), kMaxCode));
  add_objects(result);
  return result;
}

void SimulatorSink::add_objects(Simulation& result) const {
  uint64_t all = 0;
  for (uint64_t seq = 0; seq < objects_end_; ++seq) {
    const MissedObject& object = (*objects_)[seq];
    if (object.misses == 0) continue;
    result.objects.push_back({seq, object.context, object.size, object.misses});
    all += object.misses;
  }
  std::sort(result.objects.begin(), result.objects.end(), misses_more);
  result.objects_missed = result.objects.size();
  for (uint64_t sum = 0; 2 * sum < all; ++result.objects_for_half)
    sum += result.objects[result.objects_for_half].misses;
  result.objects.resize(std::min(result.objects.size(), kMaxObjects));
}

}  // namespace halo::sinks
