#include "studies/pollution/monitor/monitor.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace halo::watch {

Monitor::Monitor(const Parameters& parameters, uint32_t contexts, Actions* actions)
    : parameters_(parameters),
      predictor_(parameters, contexts),
      actions_(actions),
      random_(parameters.seed),
      objects_(parameters.max_objects),
      samples_(parameters.max_pages),
      by_address_(parameters.max_objects),
      by_page_(parameters.max_pages),
      windows_(parameters.max_pages),
      pauses_(parameters.max_pages),
      phases_(parameters.max_objects) {
  for (uint32_t at = parameters.max_objects; at-- > 0;) {
    objects_[at].next = free_object_;
    free_object_ = at;
  }
  for (uint32_t at = parameters.max_pages; at-- > 0;) {
    samples_[at].next = free_sample_;
    free_sample_ = at;
  }
  free_samples_ = parameters.max_pages;
}

uint64_t Monitor::next_us() const { return std::min(pauses_.first(), phases_.first()); }

// Objects.

Mapping Monitor::allocated(uint64_t address, uint64_t bytes, ContextIndex context, Page first,
                           uint64_t pages, const Now& now) {
  freed(address, now);
  const Mapping mapping = predictor_.predict(context);
  if (!predictor_.chooses(context, bytes, now.us)) return mapping;
  if (free_object_ == kNone || free_samples_ < sample_count(pages, parameters_.sampled_exponent)) {
    ++counts_.skipped;
    return mapping;
  }
  ++counts_.watched;
  const uint32_t number = free_object_;
  free_object_ = objects_[number].next;
  objects_[number] = Object{.address = address,
                            .bytes = bytes,
                            .first = first,
                            .pages = pages,
                            .context = context,
                            .mapping = mapping,
                            .predicted = mapping};
  by_address_.insert(address, number);
  predictor_.began(context);
  begin_phase(number, now);
  return mapping;
}

void Monitor::freed(uint64_t address, const Now& now) {
  const uint32_t number = by_address_.find(address);
  if (number != NumberMap::kAbsent) finish_object(number, true, now);
}

void Monitor::stop_watching(uint64_t address, const Now& now) {
  const uint32_t number = by_address_.find(address);
  if (number != NumberMap::kAbsent) finish_object(number, false, now);
}

// An object that ends without samples is normal; one that lives on is not known.
void Monitor::finish_object(uint32_t number, bool ends, const Now& now) {
  Object& object = objects_[number];
  count_waiting(object, ends, now);
  const uint64_t hits = object.hits + object.round_hits;
  const uint64_t misses = object.misses + object.round_misses;
  if (object.samples != kNone) actions_->judge(object.address, object.context, hits, misses);
  if (ends || hits + misses != 0) learn(object, type_of(hits, misses));
  forget(number);
}

// Pages that wait for their second reference would miss it, if the cache has passed them by. Those
// of an object as large as the cache that ends are taken for such pages.
void Monitor::count_waiting(Object& object, bool ends, const Now& now) {
  const bool all = ends && object.bytes >= parameters_.open_lines * parameters_.line_bytes;
  for (uint32_t at = object.samples; at != kNone; at = samples_[at].next) {
    if (samples_[at].state != State::kSecond) continue;
    const uint64_t misses = actions_->misses_between(samples_[at].from, now.counters);
    if (!all && misses < parameters_.open_lines) continue;
    ++counts_.misses;
    ++object.round_misses;
  }
}

void Monitor::forget(uint32_t number) {
  Object& object = objects_[number];
  if (!object.learnt) predictor_.ended(object.context);
  drop_samples(object);
  phases_.clear(number);
  by_address_.erase(object.address);
  object = Object{.next = free_object_};
  free_object_ = number;
}

// The context learns one type of each object: that of its first phase, or of its life.
void Monitor::learn(Object& object, Type type) {
  if (object.learnt) return;
  object.learnt = true;
  predictor_.ended(object.context);
  predictor_.learn(object.context, object.predicted, type);
}

Type Monitor::type_of(uint64_t hits, uint64_t misses) const {
  const double samples = static_cast<double>(hits + misses);
  const bool pollutes =
      misses != 0 && static_cast<double>(misses) >= parameters_.polluter_rate * samples;
  return pollutes ? Type::kPolluter : Type::kNormal;
}

// Phases and rounds.

void Monitor::begin_phase(uint32_t number, const Now& now) {
  Object& object = objects_[number];
  object.rounds = object.round_done = 0;
  object.round_hits = object.round_misses = object.hits = object.misses = 0;
  const uint64_t wanted = sample_count(object.pages, parameters_.sampled_exponent);
  const uint64_t count = std::min<uint64_t>(wanted, free_samples_);
  for_each_sampled(object.pages, count, random_, [&](uint64_t offset) {
    const Page page = object.first + offset;
    if (by_page_.find(page) != NumberMap::kAbsent) return;  // another object's
    const uint32_t at = free_sample_;
    free_sample_ = samples_[at].next;
    --free_samples_;
    samples_[at] = Sample{.page = page, .object = number, .next = object.samples};
    object.samples = at;
    ++object.sample_count;
    by_page_.insert(page, at);
    arm(at, State::kFirst);
  });
  if (object.samples != kNone)
    phases_.set(number, now.us + parameters_.timeout_us);
  else if (object.learnt)
    phases_.set(number, now.us + parameters_.period_us);
  else
    forget(number);
}

void Monitor::end_round(uint32_t number, const Now& now) {
  Object& object = objects_[number];
  ++object.rounds;
  const bool is_last = converged(object);
  object.hits += object.round_hits;
  object.misses += object.round_misses;
  object.round_hits = object.round_misses = 0;
  object.round_done = 0;
  if (is_last) end_phase(number, now);
}

// Whether the round that has just ended is the last of its phase.
bool Monitor::converged(const Object& object) const {
  if (object.rounds >= parameters_.max_rounds) return true;
  const uint64_t more = std::bit_width(object.bytes / parameters_.round_bytes);
  if (object.rounds < 2 + more) return false;
  const auto rate = [](uint64_t hits, uint64_t misses) {
    return hits + misses == 0 ? 0.0
                              : static_cast<double>(misses) / static_cast<double>(hits + misses);
  };
  const double recent = rate(object.round_hits, object.round_misses);
  const double before = rate(object.hits, object.misses);
  return std::abs(recent - before) <= parameters_.convergence;
}

void Monitor::end_phase(uint32_t number, const Now& now) {
  Object& object = objects_[number];
  const Type type = type_of(object.hits, object.misses);
  const Mapping target = type == Type::kPolluter ? Mapping::kRestrictive : Mapping::kOpen;
  actions_->judge(object.address, object.context, object.hits, object.misses);
  learn(object, type);
  drop_samples(object);
  object.disagreements = target == object.mapping ? 0 : object.disagreements + 1;
  if (object.disagreements == 2) {
    object.mapping = target;
    object.disagreements = 0;
    ++counts_.moves;
    actions_->move(object.address, target);
  }
  if (object.mapping == target && target == Mapping::kOpen)
    forget(number);
  else
    phases_.set(number, now.us + parameters_.period_us);
}

// An object without references would otherwise occupy its slot for the rest of its life.
void Monitor::time_out(uint32_t number, const Now& now) {
  Object& object = objects_[number];
  ++counts_.expired;
  count_waiting(object, false, now);
  object.hits += object.round_hits;
  object.misses += object.round_misses;
  if (object.hits + object.misses == 0)
    forget(number);
  else
    end_phase(number, now);
}

void Monitor::drop_samples(Object& object) {
  while (object.samples != kNone) {
    const uint32_t at = object.samples;
    Sample& sample = samples_[at];
    object.samples = sample.next;
    windows_.clear(at);
    pauses_.clear(at);
    by_page_.erase(sample.page);
    const bool armed = sample.state == State::kFirst || sample.state == State::kSecond;
    if (armed) actions_->disarm(sample.page);
    sample = Sample{.next = free_sample_};
    free_sample_ = at;
    ++free_samples_;
  }
  object.sample_count = 0;
}

// Samples.

void Monitor::referenced(Page page, const Now& now) {
  const uint32_t at = by_page_.find(page);
  if (at == NumberMap::kAbsent) return;
  if (samples_[at].state == State::kFirst) {
    samples_[at].bursts = 0;
    open_window(at, now);
  } else if (samples_[at].state == State::kSecond) {
    judge(at, now);
  }
}

bool Monitor::lost(Page page, const Now& now) {
  const uint32_t at = by_page_.find(page);
  if (at == NumberMap::kAbsent || samples_[at].state != State::kSecond) return false;
  ++counts_.dropped;
  finish(at, now);
  return true;
}

void Monitor::open_window(uint32_t number, const Now& now) {
  Sample& sample = samples_[number];
  sample.state = State::kWindow;
  sample.from = now.counters;
  windows_.set(number, now.counters.accesses + parameters_.restrict_lines);
}

void Monitor::arm(uint32_t number, State state) {
  samples_[number].state = state;
  actions_->arm(samples_[number].page);
}

void Monitor::judge(uint32_t number, const Now& now) {
  Sample& sample = samples_[number];
  const uint64_t accesses = now.counters.accesses - sample.from.accesses;
  const uint64_t misses = actions_->misses_between(sample.from, now.counters);
  if (accesses < parameters_.restrict_lines) {
    ++counts_.bursts;
    if (++sample.bursts < parameters_.max_bursts) return open_window(number, now);
    ++counts_.dropped;
    return finish(number, now);
  }
  const bool is_miss = misses > parameters_.open_lines;
  Object& object = objects_[sample.object];
  actions_->sample(sample.page, is_miss);
  ++(is_miss ? counts_.misses : counts_.hits);
  ++(is_miss ? object.round_misses : object.round_hits);
  finish(number, now);
}

// The sample pauses, and counts in its object's round.
void Monitor::finish(uint32_t number, const Now& now) {
  Sample& sample = samples_[number];
  sample.state = State::kPause;
  pauses_.set(number, now.us + parameters_.pause_us);
  const uint32_t object = sample.object;
  if (++objects_[object].round_done == objects_[object].sample_count) end_round(object, now);
}

void Monitor::passed(const Now& now) {
  while (windows_.first() <= now.counters.accesses) {
    const uint32_t at = windows_.take_first();
    samples_[at].from.accesses = now.counters.accesses;
    if (parameters_.origin == Origin::kArmed) samples_[at].from.misses = now.counters.misses;
    arm(at, State::kSecond);
  }
  while (pauses_.first() <= now.us) arm(pauses_.take_first(), State::kFirst);
  while (phases_.first() <= now.us) {
    const uint32_t number = phases_.take_first();
    if (objects_[number].samples == kNone)
      begin_phase(number, now);
    else
      time_out(number, now);
  }
}

}  // namespace halo::watch
