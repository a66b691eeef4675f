// Builds reduced stacks one call at a time.
#include "recorder/contexts/context_table.h"

#include <algorithm>

namespace halo::record {

namespace {

uint64_t key_of(uint32_t high, uint32_t low) { return uint64_t(high) << 32 | low; }

}  // namespace

ContextTable::ContextTable(CodeSource code, uint32_t max_nodes)
    : max_nodes_(max_nodes), modules_(std::move(code)) {
  nodes_.push_back({0, kNoFrame});
}

uint32_t ContextTable::extend(uint32_t node, uint64_t return_address, int64_t distance) {
  const uint32_t frame = frame_of(return_address);
  int64_t& seen = frames_[frame].distance;
  if (seen == 0) seen = distance;
  if (distance != 0 && seen != distance) seen = -1;
  if (node == kOverflow) return kOverflow;

  // If the frame is in the stack already, removes it there, and rebuilds the stack inside of it.
  std::vector<uint32_t> inner;
  uint32_t at = node;
  while (at != 0 && nodes_[at].frame != frame) {
    inner.push_back(nodes_[at].frame);
    at = nodes_[at].parent;
  }
  if (at == 0) return make(node, frame);
  at = nodes_[at].parent;
  for (auto rest = inner.rbegin(); rest != inner.rend(); ++rest) at = make(at, *rest);
  return make(at, frame);
}

uint32_t ContextTable::make(uint32_t parent, uint32_t frame) {
  if (parent == kOverflow) return kOverflow;
  const auto [entry, added] = node_of_.try_emplace(key_of(parent, frame), uint32_t(nodes_.size()));
  if (!added) return entry->second;
  if (nodes_.size() >= max_nodes_) {
    node_of_.erase(entry);
    return kOverflow;
  }
  nodes_.push_back({parent, frame});
  return entry->second;
}

uint32_t ContextTable::frame_of(uint64_t return_address) {
  const auto [entry, added] = frame_at_.try_emplace(return_address, 0);
  if (added) {
    const CodePlace place = modules_.locate(return_address);
    if (place.module < 0) code_outside_files_ = true;
    // Offsets are below 2^47, so the module goes into the upper bits.
    const uint64_t name = uint64_t(place.module + 1) << 48 ^ place.offset;
    const auto [named, is_new] = frame_named_.try_emplace(name, uint32_t(frames_.size()));
    if (is_new) frames_.push_back({.place = place});
    entry->second = named->second;
  }
  return entry->second;
}

void ContextTable::find_code(uint64_t address) {
  modules_.mappings_changed();
  modules_.locate(address);
}

void ContextTable::drop_code(AddressRange range) {
  modules_.mappings_changed();
  // Called for each unmapping of the program; most are of plain memory.
  if (!code_outside_files_ && !modules_.contains_any_of(range)) return;
  std::erase_if(frame_at_, [&](const auto& entry) { return range.contains(entry.first); });
  modules_.invalidate(range);
  ++generation_;
}

base::NodeId ContextResolver::resolve(std::vector<ShadowFrame>& frames, uint64_t slot) {
  if (generation_ != table_.generation()) {
    generation_ = table_.generation();
    std::fill(cache_.begin(), cache_.end(), Entry{});
  }
  size_t count = frames.size();
  while (count > 0 && frames[count - 1].slot < slot) --count;
  size_t known = count;
  while (known > 0 && frames[known - 1].node == ShadowFrame::kUnresolved) --known;
  uint32_t node = known == 0 ? 0 : frames[known - 1].node;
  for (; known < count; ++known) {
    ShadowFrame& frame = frames[known];
    const int64_t distance = known == 0 ? 0 : int64_t(frames[known - 1].slot - frame.slot);
    node = extend(node, frame.return_address, distance);
    frame.node = node;
  }
  return base::NodeId{node == ContextTable::kOverflow ? 0 : node};
}

uint32_t ContextResolver::extend(uint32_t node, uint64_t return_address, int64_t distance) {
  const uint64_t hash =
      (return_address * 0x9E3779B97F4A7C15ULL ^ node) * 0xBF58476D1CE4E5B9ULL ^ uint64_t(distance);
  Entry& entry = cache_[(hash >> 20) % kCacheSize];
  if (entry.return_address != return_address || entry.node != node || entry.distance != distance) {
    entry = {return_address, distance, node, table_.extend(node, return_address, distance)};
  }
  return entry.result;
}

}  // namespace halo::record
