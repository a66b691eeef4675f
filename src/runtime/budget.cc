// How far a group may grow: only while little of it is free. What it refuses is forwarded.
#include <algorithm>

#include "runtime/group_heap.h"
#include "runtime/thread_heap.h"

namespace halo::runtime {
namespace {

// What may be free of a thread's part of a group that grows: a twelfth of what is live, so that of
// the whole group it is less than a tenth.
constexpr std::uint64_t allowed_part = 12;
// Or this much, as is free of groups of many block sizes that have just begun to grow.
constexpr std::uint64_t always_allowed = 2 * chunk_size;

constexpr std::uint64_t asked_again = 64;  // refusals

}  // namespace

bool GroupHeap::may_grow() const {
  if (reuse_ != plan::Reuse::newest_first) return true;
  const GroupBytes all = thread_->bytes_of(group_);
  return all.resident + soft_step <= all.live + std::max(always_allowed, all.live / allowed_part);
}

// In memory as a whole, it is for groups that are large already.
bool GroupHeap::may_take_huge_page() const {
  const GroupBytes all = thread_->bytes_of(group_);
  return all.resident + 2 * chunk_size <= all.live + all.live / allowed_part;
}

// A block of a size that was refused, or a larger one. It is refused again until more is free,
// which tidying may make use of, or less; now and then it is looked for all the same, as other
// heaps of the group may have become smaller.
void* GroupHeap::carve_refused(std::uint32_t bytes) {
  drain_remote();
  if (void* p = pop(bytes)) return p;
  const std::uint64_t free = free_bytes();
  const bool as_then = free + refused_free_ / 16 >= refused_free_ &&
                       free <= refused_free_ + refused_free_ / 4 + soft_step;
  const bool fits = limit_ - bump_ >= static_cast<std::ptrdiff_t>(bytes + granule);
  if (!as_then || fits || refusals_ % asked_again == 0) return carve_now(bytes);
  ++refusals_;
  return nullptr;
}

void GroupHeap::refuse(std::uint32_t bytes) {
  refused_ = bytes;
  refused_free_ = free_bytes();
  ++refusals_;
}

}  // namespace halo::runtime
