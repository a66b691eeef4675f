// Allocations: the wrappers are those of the recorder's guest library; this is who listens.
#include <span>

#include "base/keep_errno.h"
#include "logging/local.h"
#include "logging/module_table.h"
#include "logging/own_work.h"
#include "logging/process.h"
#include "logging/producer.h"
#include "logging/uninstrumented_frames.h"
#include "record/guest/report.h"

namespace halo::logging {

namespace {

bool listens() { return halo_log_epoch.load(std::memory_order_relaxed) != 0; }

// Nothing of what our own code allocates, and nothing from a handler that interrupts it there.
bool is_programs() { return halo_log_local.own_work == 0; }

void log_alloc(uint64_t address, uint64_t size, uint64_t slot) {
  const KeepErrno keep;
  const uint64_t code = *reinterpret_cast<const uint64_t*>(slot);
  Logged records[kMostTogether];
  std::span<Logged> used = std::span(records).last(3);
  if (!modules.is_instrumented(code)) {
    const OwnWork own;
    const auto room = std::span(records).subspan(1, kMostTogether - 3);
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

}  // namespace

}  // namespace halo::logging

namespace halo::record::guest {

using namespace halo::logging;

void begin_listening() { begin_process(); }

void report_alloc(void* address, size_t size, uint64_t slot) {
  if (address == nullptr || !listens() || !is_programs()) return;
  log_alloc(reinterpret_cast<uint64_t>(address), size, slot);
}

void report_aligned(void* address, size_t size, uint64_t slot) {
  report_alloc(address, size, slot);
}

void report_free(void* address) {
  if (address != nullptr && listens() && is_programs()) log_address(trace::Marker::kFree, address);
}

void report_revive(void* address) {
  if (address != nullptr && listens() && is_programs())
    log_address(trace::Marker::kRevive, address);
}

}  // namespace halo::record::guest
