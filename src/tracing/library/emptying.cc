// One round over all rings.
#include "tracing/library/emptying.h"

#include <errno.h>
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <cstring>

#include "tracing/library/metadata.h"
#include "tracing/library/producer.h"

namespace halo::logging {

namespace {

// Milliseconds before the mappings are read again: for an address in no known mapping, and in any
// case.
constexpr int64_t kRefreshUnknown = 10;
constexpr int64_t kRefreshAlways = 250;

constexpr uint64_t kAhead = 64;  // records; the lines come from another processor's cache

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
  Text metadata;
  print_metadata(metadata);
  if (!output_->begin(metadata.view())) return false;
  code_.reset();
  inspect_code();
  return true;
}

void Emptying::inspect_code() {
  refreshed_at_ = now();
  if (code_.refresh() && !failed_) check(output_->maps(code_.json().view()));
}

void Emptying::write_modules() {
  const uint64_t first = next_site_;
  for (uint32_t at = 0; at < modules.count(); ++at) {
    LoggedModule& module = modules[at];
    if (module.first_site == 0 && module.gone_epoch == 0) write_module(module);
  }
  if (next_site_ != first || now() - refreshed_at_ > kRefreshAlways) inspect_code();
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
  // Threads may still log while the process exits, after their module was removed.
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

// Returns false if the record does not belong in the trace.
bool Emptying::keep_marker(Ring& ring, const Logged& record) {
  switch (trace::Marker(record.site)) {
    case trace::Marker::kAllocFrom:
    case trace::Marker::kFrame:
      if (!code_.contains(record.word2) && now() - refreshed_at_ > kRefreshUnknown) inspect_code();
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
    // The epoch is lower than before only if a handler logged in between; its epoch was seen then.
    result.word1 = ring.key = std::max(ring.key, record.word1);
    return true;
  }
  if (record.site < trace::kMarkers) return keep_marker(ring, record);
  result.site = number_of(record.site, ring.key / 2);
  if (result.site == 0) {  // of an unregistered module
    result = {uint64_t(trace::Marker::kLost), 1, 0};
    ++lost_;
  }
  return true;
}

void Emptying::emit(const Ring& ring, uint64_t count) {
  if (count == 0) return;
  if (!failed_) check(output_->events(ring.number, {block, count}));
  if (failed_) lost_ += count;
}

// Whether to skip an unwritten record before written ones. A signal handler interrupted its writer,
// which normally continues later. It never does if the handler was left by a jump, and it does too
// late if the handler itself waits for room.
bool Emptying::skip_unwritten(Ring& ring, const Logged* unwritten, bool last) {
  const uint32_t begun = ring.begun.load(std::memory_order_acquire);
  const bool stuck = begun - ring.freed == kSegments && ring.waiting != 0;
  bool more = begun - ring.freed > 1;
  if (last && !more) {
    const auto* end =
        reinterpret_cast<const Logged*>((reinterpret_cast<uint64_t>(unwritten) | kSegmentMask) + 1);
    more =
        std::any_of(unwritten + 1, end, [](const Logged& later) { return load_site(&later) != 0; });
  }
  return (stuck || (last && more)) && load_site(unwritten) == 0;
}

// The common case: a site of the same, still present module as the last one.
inline bool Emptying::translate_cached(const Logged& record, uint64_t site, Logged& result) const {
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
    // Published after the last round's limit was taken, so no event of that round depends on it.
    ring.key = last_limit_;
    block[count++] = {uint64_t(trace::Marker::kEpoch), ring.key, 0};
  }
  for (; record < end; ++record) {
    __builtin_prefetch(record + kAhead);
    const uint64_t site = load_site(record);
    if (wanted && translate_cached(*record, site, block[count])) {
      ++count;
    } else if (site == 0) {
      if (!skip_unwritten(ring, record, last)) break;
      ring.unsafe = true;
      ++lost_;
      block[count++] = {uint64_t(trace::Marker::kLost), 1, 0};
    } else if (wanted) {
      count += translate(ring, *record, block[count]) ? 1 : 0;
    } else if (record->site == uint64_t(trace::Marker::kThreadEnd)) {
      ring.ended = true;
    }
  }
  emit(ring, count);
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
  rings.release(&ring);
}

bool Emptying::empty(Ring& ring, bool last) {
  bool any = false;
  // A ring's epochs ascend. This one's first events may be of a module that was at the same place
  // before the last one, so the modules are searched from the oldest on.
  last_module_ = nullptr;
  // At most one ring per round, so a fast thread does not delay the others.
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

void Emptying::end(trace::Ending ending, uint32_t detail) {
  if (!failed_) inspect_code();
  trace::EndNote note{ending, detail, 0, lost_ + lost_events()};
  if (failed_) note = {trace::Ending::kNoSpace, error_, 0, note.lost};
  const bool written = output_->end(note);
  if (written || failed_) return;
  check(false);
  note = {trace::Ending::kNoSpace, error_, 0, lost_ + lost_events()};
  output_->end(note);
}

bool Emptying::continue_after_end() { return !failed_ && output_->continue_after_end(); }

}  // namespace halo::logging
