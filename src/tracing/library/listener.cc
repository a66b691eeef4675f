// Receives the allocations from the interposed allocation functions, and logs them.
#include "recorder/wrappers/listener.h"

#include <span>

#include "base/keep_errno.h"
#include "tracing/library/local.h"
#include "tracing/library/module_table.h"
#include "tracing/library/process.h"
#include "tracing/library/producer.h"
#include "tracing/library/reentrancy_guard.h"
#include "tracing/library/uninstrumented_frames.h"

namespace halo::logging {

namespace {

bool listens() { return halo_log_epoch.load(std::memory_order_relaxed) != 0; }

// False for allocations of the library's own code, and of a handler that interrupts it.
bool is_programs() { return halo_log_local.reentrancy == 0; }

void log_alloc(uint64_t address, uint64_t size, uint64_t slot) {
  const KeepErrno keep;
  const uint64_t code = *reinterpret_cast<const uint64_t*>(slot);
  Logged records[kMaxTogether];
  std::span<Logged> used = std::span(records).last(3);
  if (!modules.is_instrumented(code)) {
    const ReentrancyGuard own;
    const auto room = std::span(records).subspan(1, kMaxTogether - 3);
    used = std::span(records).last(3 + uninstrumented_frames(slot, room).size());
  }
  const auto last = std::span(records).last(2);
  last[0] = {uint64_t(trace::Marker::kAlloc), address, size};
  last[1] = {uint64_t(trace::Marker::kAllocFrom), slot, code};
  log_own_epoch(used);
}

void log_address(trace::Marker marker, void* address) {
  const KeepErrno keep;
  Logged records[] = {{}, {uint64_t(marker), reinterpret_cast<uint64_t>(address), 0}};
  log_own_epoch(records);
}

void alloc(void* address, size_t size, uint64_t slot) {
  if (!listens() || !is_programs()) return;
  log_alloc(reinterpret_cast<uint64_t>(address), size, slot);
}

void free_object(void* address) {
  if (listens() && is_programs()) log_address(trace::Marker::kFree, address);
}

void revive(void* address) {
  if (listens() && is_programs()) log_address(trace::Marker::kRevive, address);
}

}  // namespace

}  // namespace halo::logging

constinit const halo::interpose::Listener halo::interpose::kListener{
    .begin = logging::begin_process,
    .alloc = logging::alloc,
    .aligned = logging::alloc,
    .reallocated = logging::alloc,
    .free = logging::free_object,
    .revive = logging::revive,
};
