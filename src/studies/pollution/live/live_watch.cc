#include "studies/pollution/live/live_watch.h"

#include <sys/syscall.h>
#include <time.h>

#include <algorithm>

#include "studies/pollution/live/span_state.h"

namespace halo::watching {

namespace {

constexpr uint64_t kTrapNs = 50'000;   // of a waiting thread, beyond what this thread can measure
constexpr uint64_t kPagesOfOpen = 32;  // of the sample, in as many lines as the cache has

// Distances around the size of the cache are known with this rate.
uint32_t rate_for(uint64_t open_lines) {
  const uint64_t rate = open_lines / PageSample::kLinesOfPage / kPagesOfOpen;
  return static_cast<uint32_t>(std::clamp<uint64_t>(rate, 1, 1 << 16));
}

uint64_t monotonic_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return uint64_t(time.tv_sec) * 1'000'000'000 + uint64_t(time.tv_nsec);
}

uintptr_t address_of(watch::Page page) { return page * traps::kPageBytes; }

}  // namespace

watch::Parameters LiveWatch::parameters_of(const Settings& settings) {
  watch::Parameters parameters;
  parameters.open_lines = settings.cache_bytes / parameters.line_bytes;
  parameters.restrict_lines = parameters.open_lines / 8;
  parameters.max_pages = kMaxWatched;
  parameters.pause_us = 0;
  return parameters;
}

LiveWatch::LiveWatch(const Settings& settings, const HaloSpanControl& control, CommandQueue& queue)
    : settings_(settings),
      control_(control),
      queue_(queue),
      traps_(kMaxPages),
      sample_(rate_for(settings.cache_bytes / 64)),
      budget_(settings.share, monotonic_ns()),
      monitor_(parameters_of(settings), control.groups, this),
      spans_(kMaxSpans),
      by_address_(kMaxSpans),
      had_first_(kMaxWatched),
      groups_(control.groups) {
  if (settings.colours.is_valid()) confiner_.emplace(settings.colours, control, traps_);
  retries_.reserve(kMaxWatched);
  lost_.reserve(kMaxWatched);
  free_spans_.reserve(kMaxSpans);
  for (uint32_t at = kMaxSpans; at-- > 0;) free_spans_.push_back(at);
  for (uint32_t at = 0; at < control.groups; ++at)
    groups_[at].is_confined = control.group(at).is_confined != 0;
}

traps::Refusal LiveWatch::open() {
  const traps::Refusal refusal = traps_.open();
  if (refusal == traps::Refusal::kNone && confiner_) confiner_->open();
  return refusal;
}

void LiveWatch::close() {
  if (confiner_) confiner_->close();
  traps_.close();
}

watch::Now LiveWatch::now() { return {budget_.open_us(), {sample_.accesses(), sample_.traps()}}; }

void LiveWatch::serve() {
  pass();
  ++passes_;
}

void LiveWatch::pass() {
  const bool fast = settings_.stress || budget_.is_open();
  const bool busy = confiner_ && confiner_->is_busy();
  traps_.wait(busy ? 0 : fast ? kTickNs : kIdleTickNs, *this);
  rung();  // commands without a ring
  if (pauses_ != 0) return rest();
  const uint64_t time = monotonic_ns();
  const bool rearms = time - rearmed_ns_ >= uint64_t{kTickNs};
  if (rearms) rearmed_ns_ = time;
  if (confiner_ && !budget_.is_open()) confine_by_colours(*confiner_, time);
  if (settings_.stress) return rearms ? arm_everything() : void();
  budget_.pass(time);
  if (budget_.may_open() && !(confiner_ && confiner_->is_busy())) open_window();
  if (!budget_.is_open()) return;
  monitor_.passed(now());
  drop_lost();
  if (budget_.must_close()) return close_window();
  if (!rearms) return;
  sample_.arm(traps_);
  std::erase_if(retries_, [this](uintptr_t page) { return traps_.arm(page); });
}

// Nothing is armed. What the monitor waits for is lost.
void LiveWatch::rest() {
  if (budget_.is_open()) return close_window();
  traps_.disarm_all();
}

// All spans are new to the monitor.
void LiveWatch::open_window() {
  if (free_spans_.size() == kMaxSpans) return;
  traps_.leave_mappings();
  may_have_armed_ = true;
  if (pauses_ != 0) {
    may_have_armed_ = false;
    return;
  }
  budget_.open();
  for (const LiveSpan& span : spans_)
    if (span.begin != 0) watch_span(span);
}

// The monitor judges what it knows. References are not seen from now on, so that it forgets all.
void LiveWatch::close_window() {
  for (const LiveSpan& span : spans_)
    if (span.begin != 0) monitor_.stop_watching(span.address, now());
  traps_.disarm_all();
  may_have_armed_ = false;
  retries_.clear();
  lost_.clear();
  budget_.close();
  learn();
}

void LiveWatch::watch_span(const LiveSpan& span) {
  monitor_.allocated(span.address, span.bytes, span.group, span.begin / traps::kPageBytes,
                     (span.end - span.begin) / traps::kPageBytes, now());
}

// Pages of group heaps, too: nothing but the program's threads uses them.
void LiveWatch::arm_everything() {
  constexpr uint32_t kMeasured = 256;
  if (stress_ticks_++ % kMeasured == 0) {
    traps_.disarm_all();
    traps_.leave_mappings();
  }
  may_have_armed_ = true;
  if (pauses_ != 0) return;
  for (const LiveSpan& span : spans_) traps_.arm_range(span.begin, span.end);
  uintptr_t begin = 0;
  size_t bytes = 0;
  control_.arena(&begin, &bytes);
  traps_.arm_range(begin, begin + bytes);
}

Report LiveWatch::report() const {
  return {announced_,        ignored_,      sample_.traps(), budget_.spent_ns() / 1000,
          budget_.windows(), sample_.rate()};
}

// Commands.

void LiveWatch::rung() {
  Command command;
  while (queue_.pop(command)) obey(command);
}

void LiveWatch::obey(const Command& command) {
  if (command.kind == Command::Kind::kAllocated) return begin(command);
  end(command.p);
  ignore(command.state);
}

void LiveWatch::begin(const Command& command) {
  ++announced_;
  end(command.p);  // of an earlier span there, if that was not told
  if (free_spans_.empty()) ++ignored_;
  const uint32_t watched = change_state(command.announced, kHaloSpanWatched);
  const uint32_t wanted = free_spans_.empty() ? change_state(watched, kHaloSpanIgnored) : watched;
  if (!replace_state(command.state, command.announced, wanted) || wanted != watched) return;
  const auto address = reinterpret_cast<uintptr_t>(command.p);
  const uintptr_t first = (address + traps::kPageBytes - 1) / traps::kPageBytes;
  const uintptr_t end = (address + command.bytes) / traps::kPageBytes;
  const uint32_t at = free_spans_.back();
  free_spans_.pop_back();
  spans_[at] = {address_of(first), address_of(end), address, command.bytes, command.group};
  by_address_.insert(address, at);
  constexpr uint32_t kOneLine = 16;
  sample_.add(spans_[at].begin, spans_[at].end,
              std::max(control_.group(command.group).density, kOneLine));
  if (confiner_) spans_[at].is_in_ring = confiner_->is_in_ring(command.group, address);
  if (budget_.is_open()) watch_span(spans_[at]);
}

void LiveWatch::end(void* p) {
  const auto address = reinterpret_cast<uintptr_t>(p);
  const uint32_t at = by_address_.find(address);
  if (at == watch::NumberMap::kAbsent) return;
  const LiveSpan span = spans_[at];
  monitor_.freed(address, now());
  sample_.remove(span.begin, span.end, traps_);
  for (uintptr_t page = span.begin; page < span.end; page += traps::kPageBytes) {
    unmark(page / traps::kPageBytes);
    if (settings_.stress) traps_.disarm(page);
  }
  if (confiner_ && span.is_switched) confiner_->forget_span(span.begin);
  by_address_.erase(address);
  spans_[at] = {};
  free_spans_.push_back(at);
}

// What the monitor asks for.

// The first reference may come later. The second one may not: misses count from now on, and those
// before an unseen reference would count, too.
void LiveWatch::arm(watch::Page page) {
  const uintptr_t address = address_of(page);
  if (traps_.is_armed(address)) return;
  if (had_first_.find(page) != watch::NumberMap::kAbsent) {
    if (!traps_.arm(address)) lost(address);
    return;
  }
  if (traps_.arm(address)) return;
  if (retries_.size() < retries_.capacity()) retries_.push_back(address);
}

void LiveWatch::disarm(watch::Page page) {
  std::erase(retries_, address_of(page));
  unmark(page);
  if (!sample_.contains(address_of(page))) traps_.disarm(address_of(page));
}

void LiveWatch::sample(watch::Page page, bool) { unmark(page); }

void LiveWatch::mark_first(watch::Page page) {
  if (first_count_ == kMaxWatched || had_first_.find(page) != watch::NumberMap::kAbsent) return;
  had_first_.insert(page, 0);
  ++first_count_;
}

void LiveWatch::unmark(watch::Page page) {
  if (first_count_ == 0 || had_first_.find(page) == watch::NumberMap::kAbsent) return;
  had_first_.erase(page);
  --first_count_;
}

void LiveWatch::judge(uint64_t address, watch::ContextIndex group, uint64_t hits, uint64_t misses) {
  groups_[group].hits += hits;
  groups_[group].misses += misses;
  ++groups_[group].judged;
  const uint32_t at = by_address_.find(address);
  if (at == watch::NumberMap::kAbsent || hits + misses == 0) return;
  const bool pollutes = monitor_.type_of(hits, misses) == watch::Type::kPolluter;
  spans_[at].polluter_phases = pollutes ? spans_[at].polluter_phases + 1 : 0;
}

// Pages are away for moments, like armed ones.
void LiveWatch::confine_by_colours(Confiner& confiner, uint64_t time) {
  may_have_armed_ = true;
  if (pauses_ == 0) work_by_colours(confiner, time);
  may_have_armed_ = settings_.stress;
}

// Spans that were judged polluters twice in a row are switched first.
void LiveWatch::work_by_colours(Confiner& confiner, uint64_t time) {
  for (LiveSpan& span : spans_) {
    if (confiner.is_busy()) break;
    if (span.polluter_phases < kPhasesToSwitch || span.is_in_ring || span.is_switched) continue;
    span.is_switched = confiner.switch_span(span.begin, span.end);
  }
  confiner.work(time);
}

std::optional<ConfinerReport> LiveWatch::confiner_report() const {
  if (!confiner_) return std::nullopt;
  return confiner_->report();
}

// The classes of groups follow the predictor.
void LiveWatch::learn() {
  for (uint32_t at = 0; at < control_.groups; ++at) {
    const HaloWatchedGroup group = control_.group(at);
    if (group.ring == 0) continue;
    const bool confined = monitor_.predictor().predict(at) == watch::Mapping::kRestrictive;
    if (groups_[at].judged == 0 || confined == groups_[at].is_confined) continue;
    groups_[at].is_confined = confined;
    control_.confine(at, confined);
  }
}

// Traps.

void LiveWatch::accessed(uintptr_t page) {
  const uint64_t begin = monotonic_ns();
  sample_.accessed(page);
  const watch::Page number = page / traps::kPageBytes;
  mark_first(number);
  monitor_.referenced(number, now());
  const uint64_t end = monotonic_ns();
  budget_.spend(kTrapNs + end - begin);
  budget_.pass(end);
  if (budget_.must_close()) close_window();
}

// The monitor may be in the middle of an event.
void LiveWatch::lost(uintptr_t address) {
  const watch::Page page = address / traps::kPageBytes;
  if (had_first_.find(page) == watch::NumberMap::kAbsent || lost_.size() == lost_.capacity())
    return;
  lost_.push_back(page);
}

void LiveWatch::drop_lost() {
  for (const watch::Page page : lost_)
    if (monitor_.lost(page, now())) unmark(page);
  lost_.clear();
}

}  // namespace halo::watching
