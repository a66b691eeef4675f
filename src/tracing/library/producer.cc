// Reserves places in the rings, and waits for them.
#include "tracing/library/producer.h"

#include <new>

#include "base/keep_errno.h"
#include "base/signals_blocked.h"
#include "recorder/events/epoch_merge.h"
#include "tracing/library/consumer.h"
#include "tracing/library/process.h"
#include "tracing/library/ring.h"

namespace halo::logging {

namespace {

constinit std::atomic<uint64_t> lost{0};
// For threads that log after their end: in very late destructors, or while libc frees their data.
constinit Local stragglers{};
constinit Lock stragglers_lock;

// One instruction without a lock prefix, as in the hook.
uint64_t reserve_bytes(Local& local, uint64_t bytes) {
  __asm__ volatile("xaddq %0, %1" : "+r"(bytes), "+m"(local.cursor) : : "memory");
  return bytes;
}

// Reserves `count` adjacent places. If the segment has too few, fills its rest and returns null.
Logged* reserve(Local& local, uint64_t count) {
  const uint64_t place = reserve_bytes(local, count * sizeof(Logged));
  if (!has_place(place)) return nullptr;
  auto* const first = reinterpret_cast<Logged*>(place);
  const uint64_t room = room_behind(place);
  if (count <= room) return first;
  for (uint64_t at = 0; at < room; ++at) store_record(first + at, {kPadding, 0, 0});
  return nullptr;
}

enum class Step { kDone, kWait, kOff };

// Signals must be blocked.
Step try_next_segment(Local& local) {
  if (has_place(local.cursor)) return Step::kDone;  // a handler has taken a segment in between
  local.cursor = 0;
  if (halo_log_epoch.load(std::memory_order_relaxed) == 0) return Step::kOff;
  if (local.ring == nullptr) {
    local.ring = rings.take();
    if (local.ring == nullptr) return Step::kOff;
    begin_thread(local);
    // The program's own malloc, called by libc in there, may have logged.
    if (has_place(local.cursor)) return Step::kDone;
  }
  Ring& ring = *local.ring;
  const uint32_t begun = ring.begun.load(std::memory_order_relaxed);
  if (begun - ring.freed.load(std::memory_order_acquire) == kSegments) return Step::kWait;
  char*& segment = ring.segments[begun % kSegments];
  if (segment == nullptr) segment = map_segment();
  if (segment == nullptr) return begun == ring.freed ? Step::kOff : Step::kWait;
  ring.begun.store(begun + 1, std::memory_order_release);
  local.seen_epoch = 0;
  local.cursor = reinterpret_cast<uint64_t>(segment) + kRecordsBegin;
  if (begun != 0) wake_consumer();
  return Step::kDone;
}

// Returns false if the event must be dropped.
bool next_segment(Local& local) {
  for (;;) {
    Step step;
    uint32_t freed = 0;
    {
      const SignalsBlocked blocked;
      step = try_next_segment(local);
      if (step == Step::kWait) freed = local.ring->freed.load(std::memory_order_relaxed);
    }
    if (step == Step::kDone) return true;
    if (step == Step::kOff || !ensure_consumer()) return false;
    // With the program's signals unblocked, since the wait may be long.
    Ring& ring = *local.ring;
    ring.waiting.fetch_add(1);
    wake_consumer();
    futex_wait(ring.freed, freed, 50);
    ring.waiting.fetch_sub(1);
  }
}

// Writes the records, preceded by a marker if the epoch has changed and `mark` is set.
bool put(Local& local, std::span<const Logged> records, bool mark) {
  for (;;) {
    const uint64_t epoch = halo_log_epoch.load(std::memory_order_relaxed);
    if (epoch == 0) return true;
    const bool marked = mark && epoch != local.seen_epoch;
    if (Logged* place = reserve(local, records.size() + (marked ? 1 : 0))) {
      if (marked) {
        local.seen_epoch = epoch;
        store_record(place++, {uint64_t(trace::Marker::kEpoch), events::observer_key(epoch), 0});
      }
      for (const Logged& record : records) store_record(place++, record);
      return true;
    }
    if (!next_segment(local)) return halo_log_epoch.load(std::memory_order_relaxed) == 0;
  }
}

void put_or_lose(std::span<const Logged> records, bool mark) {
  Local& local = halo_log_local;
  bool done;
  if (local.state == ThreadState::kOurs) {  // it would wait for itself
    local.cursor = 0;
    return;
  }
  if (local.state == ThreadState::kRunning) {
    done = put(local, records, mark);
  } else {
    const SignalsBlocked blocked;
    const Locked locked(stragglers_lock);
    done = put(stragglers, records, mark);
    local.cursor = 0;
  }
  if (!done) {
    local.cursor = 0;
    lost.fetch_add(records.size() - (mark ? 0 : 1), std::memory_order_relaxed);
  }
}

}  // namespace

void log(const Logged& event) {
  const KeepErrno keep;
  put_or_lose({&event, 1}, true);
}

uint64_t advance_epoch() {
  uint64_t epoch = halo_log_epoch.load(std::memory_order_relaxed);
  while (epoch != 0 && !halo_log_epoch.compare_exchange_weak(epoch, epoch + 1)) {
  }
  return epoch == 0 ? 0 : epoch + 1;
}

void log_own_epoch(std::span<Logged> records) {
  const uint64_t epoch = advance_epoch();
  if (epoch == 0) return;
  records[0] = {uint64_t(trace::Marker::kEpoch), events::owner_key(epoch), 0};
  put_or_lose(records, false);
  Local& local = halo_log_local;
  if (local.state == ThreadState::kRunning) local.seen_epoch = epoch;
}

void end_thread() {
  const SignalsBlocked blocked;
  Local& local = halo_log_local;
  if (local.ring == nullptr) return;
  const Logged end{uint64_t(trace::Marker::kThreadEnd), 0, 0};
  put_or_lose({&end, 1}, true);
  local.state = ThreadState::kEnded;
  local.cursor = 0;
  local.ring = nullptr;
}

void reset_producers() {
  Local& local = halo_log_local;
  local.cursor = 0;
  local.seen_epoch = 0;
  local.ring = nullptr;
  stragglers = {};
  new (&stragglers_lock) Lock;
  lost = 0;
}

uint64_t lost_events() { return lost.load(std::memory_order_relaxed); }

}  // namespace halo::logging
