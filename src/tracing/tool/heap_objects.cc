// Adds and removes objects.
#include "tracing/tool/heap_objects.h"

#include <algorithm>

namespace halo::trace_tool {

int64_t HeapObjects::add(uint64_t address, uint64_t bytes) {
  if (size_at(address) != 0) free(address);
  put(address, bytes, ++last_);
  return last_;
}

// An object of no bytes gets a granule, so that its address finds it.
void HeapObjects::put(uint64_t address, uint64_t bytes, int64_t object) {
  bytes = std::max<uint64_t>(bytes, 1);
  if (bytes < kLarge && (!unused_.empty() || next_unused_ < small_.size())) {
    uint32_t id = next_unused_;
    if (unused_.empty()) {
      ++next_unused_;
    } else {
      id = unused_.back();
      unused_.pop_back();
    }
    small_[id] = {address, bytes, object};
    if (map_.put(address, uint32_t(bytes), base::ObjectId{id})) return;
    small_[id] = {};
    unused_.push_back(id);
  }
  large_[address] = {bytes, object};
}

int64_t HeapObjects::free(uint64_t address) {
  const uint32_t id = base::index(map_.find(address));
  if (small_[id].address == address && small_[id].bytes != 0) {
    const int64_t object = small_[id].object;
    // Granules that still refer to it then find an empty object, or one at another address.
    small_[id] = {};
    unused_.push_back(id);
    return object;
  }
  const auto found = large_.find(address);
  if (found == large_.end()) return 0;
  const int64_t object = found->second.object;
  large_.erase(found);
  newest_ = {};
  return object;
}

bool HeapObjects::revive(uint64_t address, uint64_t bytes, int64_t object) {
  if (size_at(address) != 0) return false;
  put(address, bytes, object);
  return true;
}

uint64_t HeapObjects::size_at(uint64_t address) {
  const Small& small = small_[base::index(map_.find(address))];
  if (small.address == address && small.bytes != 0) return small.bytes;
  const auto found = large_.find(address);
  return found == large_.end() ? 0 : found->second.bytes;
}

HeapObjects::Place HeapObjects::find_large(uint64_t address) {
  if (address - newest_begin_ < newest_.bytes) return {newest_.object, address - newest_begin_};
  auto after = large_.upper_bound(address);
  if (after == large_.begin()) return {};
  --after;
  if (address - after->first >= after->second.bytes) return {};
  newest_begin_ = after->first;
  newest_ = after->second;
  return {newest_.object, address - newest_begin_};
}

}  // namespace halo::trace_tool
