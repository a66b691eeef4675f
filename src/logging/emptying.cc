// One round over all rings.
#include "logging/emptying.h"

#include <errno.h>
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <cstring>

#include "logging/about.h"
#include "logging/producer.h"

namespace halo::logging {

namespace {

// Milliseconds between two looks at the mappings: at an address that is in none of those known, and
// without a reason.
constexpr int64_t kLookAgain = 10;
constexpr int64_t kLookAnyway = 250;

constexpr uint64_t kAhead = 64;  // records, which come from another processor's cache

Logged block[kRecords + 1];

int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return int64_t(time.tv_sec) * 1000 + time.tv_nsec / 1000000;
}

bool belongs(const LoggedModule& module, uint64_t site, uint64_t epoch) {
  const uint64_t gone = module.gone_epoch.load(std::memory_order_acquire);
  return module.sites.contains(site) && (gone == 0 || epoch < gone);
}

}  // namespace

void Emptying::check(bool ok) {
  if (ok || failed_) return;
  failed_ = true;
  error_ = uint32_t(errno);
  halo_log_epoch.store(0);
}

bool Emptying::begin(Output* output) {
  output_ = output;
  next_site_ = trace::kMarkers;
  last_module_ = nullptr;
  failed_ = false;
  lost_ = 0;
  last_limit_ = 0;
  Text about;
  print_about(about);
  if (!output_->begin(about.view())) return false;
  code_.forget();
  look_at_code();
  return true;
}

void Emptying::look_at_code() {
  looked_at_ = now();
  if (code_.refresh() && !failed_) check(output_->maps(code_.json().view()));
}

void Emptying::write_modules() {
  const uint64_t first = next_site_;
  for (uint32_t at = 0; at < modules.count(); ++at) {
    LoggedModule& module = modules[at];
    if (module.first_site == 0 && module.gone_epoch == 0) write_module(module);
  }
  if (next_site_ != first || now() - looked_at_ > kLookAnyway) look_at_code();
}

void Emptying::write_module(LoggedModule& module) {
  module.first_site = next_site_;
  next_site_ += (module.sites.end - module.sites.begin) / sizeof(trace::Site);
  if (!failed_) check(output_->module(module));
}

LoggedModule* Emptying::find_module(uint64_t site, uint64_t epoch) {
  LoggedModule* last = nullptr;
  for (uint32_t at = 0; at < modules.count(); ++at) {
    LoggedModule& module = modules[at];
    if (belongs(module, site, epoch)) return &module;
    if (module.sites.contains(site)) last = &module;
  }
  // Threads that still run while the process exits log after their module has taken its leave.
  return last;
}

uint64_t Emptying::number_of(uint64_t site, uint64_t epoch) {
  if (last_module_ == nullptr || !belongs(*last_module_, site, epoch)) {
    LoggedModule* module = find_module(site, epoch);
    if (module == nullptr) return 0;
    if (module->first_site == 0) write_module(*module);
    last_module_ = module;
  }
  return last_module_->first_site + (site - last_module_->sites.begin) / sizeof(trace::Site);
}

// False where the record is not for the trace.
bool Emptying::keep_marker(Ring& ring, const Logged& record) {
  switch (trace::Marker(record.site)) {
    case trace::Marker::kAllocFrom:
    case trace::Marker::kFrame:
      if (!code_.contains(record.word2) && now() - looked_at_ > kLookAgain) look_at_code();
      return true;
    case trace::Marker::kThreadEnd:
      ring.ended = true;
      return true;
    default:
      return record.site != kPadding;
  }
}

bool Emptying::translate(Ring& ring, const Logged& record, Logged& result) {
  result = record;
  if (record.site == uint64_t(trace::Marker::kEpoch)) {
    // Less than before only where a handler came in between: what it logged has been seen then.
    result.word1 = ring.key = std::max(ring.key, record.word1);
    return true;
  }
  if (record.site < trace::kMarkers) return keep_marker(ring, record);
  result.site = number_of(record.site, ring.key / 2);
  if (result.site == 0) {  // of a module that never told us of itself
    result = {uint64_t(trace::Marker::kLost), 1, 0};
    ++lost_;
  }
  return true;
}

void Emptying::hand_over(const Ring& ring, uint64_t count) {
  if (count == 0) return;
  if (!failed_) check(output_->events(ring.number, {block, count}));
  if (failed_) lost_ += count;
}

// A record that is not there yet, while later ones are: a handler interrupted its writer. It will
// come when the handler returns; but never, if that has jumped out of it, and too late, if the
// handler itself waits for room.
bool Emptying::give_up_hole(Ring& ring, const Logged* hole, bool last) {
  const uint32_t begun = ring.begun.load(std::memory_order_acquire);
  const bool stuck = begun - ring.freed == kSegments && ring.waiting != 0;
  bool more = begun - ring.freed > 1;
  if (last && !more) {
    const auto* end =
        reinterpret_cast<const Logged*>((reinterpret_cast<uint64_t>(hole) | kSegmentMask) + 1);
    more = std::any_of(hole + 1, end, [](const Logged& later) { return load_site(&later) != 0; });
  }
  return (stuck || (last && more)) && load_site(hole) == 0;
}

// The common case: a site of the module that the last one was of, which is still there.
inline bool Emptying::translate_at_once(const Logged& record, uint64_t site, Logged& result) const {
  const LoggedModule* module = last_module_;
  if (module == nullptr || !module->sites.contains(site)) return false;
  if (module->gone_epoch.load(std::memory_order_acquire) != 0) return false;
  const uint64_t number = module->first_site + (site - module->sites.begin) / sizeof(trace::Site);
  result = {number, record.word1, record.word2};
  return true;
}

void Emptying::take_records(Ring& ring, char* segment, bool last) {
  const auto* record = reinterpret_cast<const Logged*>(segment + ring.at_byte);
  const auto* const end = reinterpret_cast<const Logged*>(segment + kSegmentBytes);
  const bool wanted = output_->wants_events();
  uint64_t count = 0;
  if (ring.key < last_limit_ && load_site(record) > uint64_t(trace::Marker::kEpoch)) {
    // Published after the last round had looked, so nothing in that depends on it.
    ring.key = last_limit_;
    block[count++] = {uint64_t(trace::Marker::kEpoch), ring.key, 0};
  }
  for (; record < end; ++record) {
    __builtin_prefetch(record + kAhead);
    const uint64_t site = load_site(record);
    if (wanted && translate_at_once(*record, site, block[count])) {
      ++count;
    } else if (site == 0) {
      if (!give_up_hole(ring, record, last)) break;
      ring.unsafe = true;
      ++lost_;
      block[count++] = {uint64_t(trace::Marker::kLost), 1, 0};
    } else if (wanted) {
      count += translate(ring, *record, block[count]) ? 1 : 0;
    } else if (record->site == uint64_t(trace::Marker::kThreadEnd)) {
      ring.ended = true;
    }
  }
  hand_over(ring, count);
  ring.at_byte = uint64_t(reinterpret_cast<const char*>(record) - segment);
}

void Emptying::free_segment(Ring& ring) {
  const uint32_t freed = ring.freed.load(std::memory_order_relaxed);
  char*& segment = ring.segments[freed % kSegments];
  char* fresh = ring.unsafe ? map_segment() : nullptr;
  if (fresh != nullptr) {
    madvise(segment + kRecordsBegin, kSegmentBytes - kRecordsBegin, MADV_DONTNEED);
    segment = fresh;
  } else {
    memset(segment + kRecordsBegin, 0, ring.at_byte - kRecordsBegin);
  }
  ring.unsafe = false;
  ring.at_byte = kRecordsBegin;
  ring.freed.store(freed + 1, std::memory_order_release);
  if (ring.waiting != 0) futex_wake_all(ring.freed);
}

void Emptying::recycle(Ring& ring) {
  free_segment(ring);
  ring.begun = 0;
  ring.freed = 0;
  rings.give_back(&ring);
}

bool Emptying::empty(Ring& ring, bool last) {
  bool any = false;
  // No more than a whole ring in one round, however fast its thread is.
  for (uint32_t portion = 0; portion <= kSegments; ++portion) {
    const uint32_t freed = ring.freed.load(std::memory_order_relaxed);
    if (freed == ring.begun.load(std::memory_order_acquire)) break;
    const uint64_t before = ring.at_byte;
    take_records(ring, ring.segments[freed % kSegments], last);
    any |= ring.at_byte != before;
    if (ring.ended) {
      recycle(ring);
      break;
    }
    if (ring.at_byte < kSegmentBytes) break;
    free_segment(ring);
  }
  return any;
}

void Emptying::round(uint64_t limit_key, bool last) {
  bool any = false;
  write_modules();
  for (uint32_t at = 0; at < rings.count(); ++at) any |= empty(rings[at], last);
  if (any && !failed_) check(output_->round(limit_key));
  last_limit_ = limit_key;
}

void Emptying::end(trace::file::Ending ending, uint32_t detail) {
  if (!failed_) look_at_code();
  trace::file::EndNote note{ending, detail, 0, lost_ + lost_events()};
  if (failed_) note = {trace::file::Ending::kNoSpace, error_, 0, note.lost};
  const bool written = output_->end(note);
  if (written || failed_) return;
  check(false);
  note = {trace::file::Ending::kNoSpace, error_, 0, lost_ + lost_events()};
  output_->end(note);
}

bool Emptying::continue_after_end() { return !failed_ && output_->continue_after_end(); }

}  // namespace halo::logging
