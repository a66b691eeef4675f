#include "studies/pollution/locality/watched_trace.h"

namespace halo::locality {

namespace {

constexpr int kLineShift = 6;

watch::Parameters every_object(watch::Parameters parameters) {
  parameters.max_interval = 0;
  parameters.max_pending = UINT32_MAX;
  parameters.max_objects = 1 << 20;
  parameters.max_pages = 1 << 21;
  return parameters;
}

template <class Item>
Item& at(std::vector<Item>& items, uint64_t number, Item absent) {
  if (number >= items.size()) items.resize(number + 1, absent);
  return items[number];
}

watch::Parameters with_origin(watch::Parameters parameters, watch::Origin origin) {
  parameters.origin = origin;
  return parameters;
}

}  // namespace

RandomPagesByClock::RandomPagesByClock(const Settings& settings, const DistinctLines& lines,
                                       const PageClock& clock)
    : counters(with_origin(settings.watch, watch::Origin::kArmed), lines, settings.draw_every),
      first(with_origin(settings.watch, watch::Origin::kFirst), lines, settings.draw_every),
      pages(with_origin(settings.watch, watch::Origin::kArmed), lines, settings.draw_every,
            &clock) {}

WatchedTrace::WatchedTrace(const simulator::Machine& machine, const Settings& settings)
    : settings_(settings),
      level_(machine),
      sampled_(settings.watch, lines_),
      complete_(every_object(settings.watch), lines_),
      clock_(settings.clock) {
  if (settings.draw_every != 0)
    random_ = std::make_unique<RandomPagesByClock>(settings, lines_, clock_);
}

watch::Now WatchedTrace::now() const {
  const double us = double(level_.cycles()) / settings_.megahertz;
  return {static_cast<uint64_t>(us), {level_.accesses(), level_.misses()}};
}

void WatchedTrace::allocate(const objects::Allocation& one) {
  const uint32_t context = base::index(one.context);
  at(objects_, one.number, Object{}) = {one.address, context};
  const bool is_first =
      context >= tallies_.contexts().size() || tallies_.contexts()[context].allocations == 0;
  tallies_.allocate(one);
  const watch::Now time = now();
  const bool known = sampled_.monitor().predictor().knows(context);
  const watch::Mapping mapping = sampled_.allocate(one, time);
  complete_.allocate(one, time);
  const bool counts = !is_first && one.size >= settings_.watch.min_bytes;
  at(predicted_, one.number, Prediction{}) = {counts, known, mapping};
}

void WatchedTrace::free(uint64_t number) {
  tallies_.free(number);
  const watch::Now time = now();
  sampled_.free(number, time);
  complete_.free(number, time);
}

void WatchedTrace::access(base::ThreadId, uint64_t number, uint32_t offset, uint32_t size,
                          bool store) {
  if (number >= objects_.size()) return;
  const Object& object = objects_[number];
  const uint64_t address = object.address + offset;
  const Reached reached = reach(address, size, store);
  if (random_ != nullptr)
    judge_page(numbers_.number(address / kPageBytes), object.context, true, reached.now);
  if (reached.last.reached) tallies_.count(number, offset, reached.last.missed);
  sampled_.access(number, offset, reached.now);
  complete_.access(number, offset, reached.now);
}

void WatchedTrace::access_outside(base::ThreadId, uint64_t address, uint32_t size, bool store) {
  const Reached reached = reach(address, size, store);
  if (random_ == nullptr) return;
  const uint32_t page = numbers_.find(address / kPageBytes);
  if (page != PageNumbers::kNone) judge_page(page, UINT32_MAX, false, reached.now);
}

// An access to a page that holds objects. The clock's trap comes first, so that the page of the
// second reference counts in its own distance, as its line does in the exact one.
void WatchedTrace::judge_page(uint32_t page, uint32_t context, bool is_object,
                              const watch::Now& now) {
  if (clock_.samples(page)) {
    const std::vector<double>& lines = settings_.lines_of_visit;
    clock_.reference(page, context < lines.size() ? lines[context] : 1);
  }
  random_->counters.access(page, is_object, now);
  random_->first.access(page, is_object, now);
  random_->pages.access(page, is_object, now);
}

WatchedTrace::Reached WatchedTrace::reach(uint64_t address, uint32_t size, bool store) {
  const LastLevel::Outcome outcome = level_.access(address, size, store);
  const watch::Now time = now();
  lines_.access(address >> kLineShift);
  sampled_.pass(time);
  complete_.pass(time);
  if (random_ != nullptr) {
    random_->counters.pass(time);
    random_->first.pass(time);
    random_->pages.pass(time);
  }
  return {outcome, time};
}

void WatchedTrace::finish() { tallies_.finish(); }

WatchedTrace::Success WatchedTrace::success() const {
  Success found;
  const watch::Predictor& learnt = sampled_.monitor().predictor();
  for (uint64_t number = 0; number < predicted_.size(); ++number) {
    const Prediction& one = predicted_[number];
    if (!one.counts) continue;
    const bool judged = number < complete_.types().size();
    const bool pollutes = judged && complete_.types()[number] == watch::Type::kPolluter;
    const watch::Mapping best = pollutes ? watch::Mapping::kRestrictive : watch::Mapping::kOpen;
    ++found.predicted;
    found.polluters += pollutes;
    found.right += one.mapping == best;
    found.known += one.known;
    found.known_right += one.known && one.mapping == best;
    found.learnt_right += learnt.predict(objects_[number].context) == best;
  }
  return found;
}

}  // namespace halo::locality
