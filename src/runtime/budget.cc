// How far a group may grow: only while little of it is free. What it refuses is forwarded.
#include <algorithm>

#include "runtime/group_heap.h"
#include "runtime/thread_heap.h"

namespace halo::runtime {
namespace {

// What may be free of a thread's part of a group that grows: a tenth of what is live, or this much,
// as is free of groups of many block sizes that have just begun to grow.
constexpr std::uint64_t always_allowed = 2 * chunk_size;

}  // namespace

bool GroupHeap::may_grow(std::size_t bytes) const {
  if (reuse_ != plan::Reuse::newest_first) return true;
  const GroupBytes all = thread_->bytes_of(group_);
  return all.resident + bytes <= all.live + std::max(always_allowed, all.live / 10);
}

// In memory as a whole, it is for groups that are large already.
bool GroupHeap::may_take_huge_page() const {
  const GroupBytes all = thread_->bytes_of(group_);
  return all.resident + 2 * chunk_size <= all.live + all.live / 10;
}

// Until more is free, which tidying may make use of, or less.
bool GroupHeap::is_refused(std::uint32_t bytes) const {
  if (bytes < refused_ || remote_.load(std::memory_order_relaxed) != nullptr) return false;
  const std::uint64_t free = free_bytes();
  return free > refused_free_ - refused_free_ / 16 && free < refused_free_ + refused_free_ / 4;
}

void* GroupHeap::refuse(std::uint32_t bytes) {
  refused_ = bytes;
  refused_free_ = free_bytes();
  ++refusals_;
  return nullptr;
}

}  // namespace halo::runtime
