#include "locality/watched_trace.h"

namespace halo::locality {

namespace {

constexpr int kLineShift = 6;
constexpr uint8_t kNone = 2;  // no prediction: the first object of its context, or a small one

watch::Parameters every_object(watch::Parameters parameters) {
  parameters.max_interval = 0;
  parameters.max_objects = 1 << 20;
  parameters.max_pages = 1 << 21;
  return parameters;
}

template <class Item>
Item& at(std::vector<Item>& items, uint64_t number, Item absent) {
  if (number >= items.size()) items.resize(number + 1, absent);
  return items[number];
}

}  // namespace

// One watch.

watch::Mapping Watched::allocate(const objects::Allocation& one, const watch::Now& now) {
  const uint64_t pages = (uint64_t{one.size} + kPageBytes - 1) / kPageBytes;
  return monitor_.allocated(one.number, one.size, base::index(one.context), one.number << kPageBits,
                            pages, now);
}

void Watched::arm(watch::Page page) {
  pages_[page].armed = true;
  const uint64_t number = page >> kPageBits;
  if (number >= has_pages_.size()) has_pages_.resize(number + 1);
  has_pages_[number] = true;
}

void Watched::access(uint64_t number, uint32_t offset, const watch::Now& now) {
  if (number >= has_pages_.size() || !has_pages_[number]) return;
  const watch::Page page = number << kPageBits | offset / kPageBytes;
  auto found = pages_.find(page);
  if (found == pages_.end()) return;
  if (found->second.armed) {
    found->second.armed = false;
    monitor_.referenced(page, now);
    found = pages_.find(page);  // the end of a phase forgets pages
    if (found == pages_.end()) return;
  }
  found->second.last = lines_.now();
}

void Watched::sample(watch::Page page, bool is_miss) {
  const bool out_of_reach = lines_.since(pages_[page].last) > parameters_.open_lines;
  ++accuracy_.samples;
  accuracy_.false_hits += !is_miss && out_of_reach;
  accuracy_.false_misses += is_miss && !out_of_reach;
}

void Watched::judge(uint64_t number, watch::ContextIndex, uint64_t hits, uint64_t misses) {
  watch::Type& type = at(types_, number, watch::Type::kUnknown);
  if (type == watch::Type::kUnknown) type = monitor_.type_of(hits, misses);
}

// The trace.

WatchedTrace::WatchedTrace(const simulator::Machine& machine, const Settings& settings)
    : settings_(settings),
      level_(machine),
      sampled_(settings.watch, lines_),
      complete_(every_object(settings.watch), lines_) {}

watch::Now WatchedTrace::now() const {
  const double us = double(level_.cycles()) / settings_.megahertz;
  return {static_cast<uint64_t>(us), {level_.accesses(), level_.misses()}};
}

void WatchedTrace::allocate(const objects::Allocation& one) {
  at(addresses_, one.number, uint64_t{0}) = one.address;
  const uint32_t context = base::index(one.context);
  const bool is_first =
      context >= tallies_.contexts().size() || tallies_.contexts()[context].allocations == 0;
  tallies_.allocate(one);
  const watch::Now time = now();
  const watch::Mapping mapping = sampled_.allocate(one, time);
  complete_.allocate(one, time);
  const bool counts = !is_first && one.size >= settings_.watch.min_bytes;
  at(predicted_, one.number, kNone) = counts ? uint8_t(mapping) : kNone;
}

void WatchedTrace::free(uint64_t number) {
  tallies_.free(number);
  const watch::Now time = now();
  sampled_.free(number, time);
  complete_.free(number, time);
}

void WatchedTrace::access(base::ThreadId, uint64_t number, uint32_t offset, uint32_t size,
                          bool store) {
  if (number >= addresses_.size()) return;
  const Reached reached = reach(addresses_[number] + offset, size, store);
  if (reached.last.reached) tallies_.count(number, offset, reached.last.missed);
  sampled_.access(number, offset, reached.now);
  complete_.access(number, offset, reached.now);
}

WatchedTrace::Reached WatchedTrace::reach(uint64_t address, uint32_t size, bool store) {
  const LastLevel::Outcome outcome = level_.access(address, size, store);
  const watch::Now time = now();
  lines_.access(address >> kLineShift);
  sampled_.pass(time);
  complete_.pass(time);
  return {outcome, time};
}

void WatchedTrace::finish() { tallies_.finish(); }

WatchedTrace::Success WatchedTrace::success() const {
  Success found;
  for (uint64_t number = 0; number < predicted_.size(); ++number) {
    if (predicted_[number] == kNone) continue;
    const bool judged = number < complete_.types().size();
    const bool pollutes = judged && complete_.types()[number] == watch::Type::kPolluter;
    ++found.predicted;
    found.right += pollutes == (predicted_[number] == uint8_t(watch::Mapping::kRestrictive));
  }
  return found;
}

}  // namespace halo::locality
