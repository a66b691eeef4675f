#include "runtime/accounting/next_statistics.h"

#include <atomic>

#include "base/next_functions.h"

namespace halo::runtime {
namespace {

constinit NextStatistics next{};
constinit std::atomic<bool> is_looked_up{false};

}  // namespace

const NextStatistics& next_statistics() {
  if (is_looked_up.load(std::memory_order_acquire)) return next;
  NextStatistics found{};
  look_up_next(found.mallinfo, "mallinfo");
  look_up_next(found.mallinfo2, "mallinfo2");
  look_up_next(found.malloc_info, "malloc_info");
  look_up_next(found.malloc_stats, "malloc_stats");
  look_up_next(found.malloc_trim, "malloc_trim");
  // Two threads may both get here; they write the same values.
  next = found;
  is_looked_up.store(true, std::memory_order_release);
  return next;
}

}  // namespace halo::runtime
