#include "runtime/heap/block_cache.h"

#include <cstring>

namespace halo::runtime {

constinit BlockCache no_cache;

void BlockCache::move_to(void** slots, size_t count) {
  const size_t cached = size();
  if (cached != 0) std::memcpy(slots, begin_, cached * sizeof *slots);
  __atomic_store_n(&begin_, slots, __ATOMIC_RELAXED);
  room_ = static_cast<uint32_t>(count);
  limit_to(count);
  set_top(slots + cached);
}

void BlockCache::drop_oldest(size_t count) {
  if (count == 0) return;
  std::memmove(begin_, begin_ + count, (size() - count) * sizeof *begin_);
  set_top(top_ - count);
}

}  // namespace halo::runtime
