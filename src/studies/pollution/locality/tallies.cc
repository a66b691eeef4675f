#include "studies/pollution/locality/tallies.h"

#include <algorithm>
#include <cmath>

#include "base/ids.h"

namespace halo::locality {

double Tallies::Context::variance() const {
  if (rated == 0) return 0;
  const double mean = sum / double(rated);
  return std::max(squares / double(rated) - mean * mean, 0.0);
}

void Tallies::allocate(const objects::Allocation& one) {
  const uint32_t context = base::index(one.context);
  if (context >= contexts_.size()) contexts_.resize(context + 1);
  Context& mine = contexts_[context];
  ++mine.allocations;
  mine.bytes += one.size;
  mine.live_bytes += one.size;
  mine.peak_bytes = std::max(mine.peak_bytes, mine.live_bytes);
  Object& object = live_[one.number];
  object.context = context;
  object.bytes = one.size;
}

void Tallies::free(uint64_t number) {
  const auto at = live_.find(number);
  if (at == live_.end()) return;
  end(at->second);
  live_.erase(at);
}

void Tallies::count(uint64_t number, uint32_t offset, bool missed) {
  const auto at = live_.find(number);
  if (at == live_.end()) return;
  Object& object = at->second;
  object.rate.count(missed);
  if (object.bytes <= kPageBytes) return;
  const size_t page = offset / kPageBytes;
  if (page >= object.pages.size()) object.pages.resize(page + 1);
  object.pages[page].count(missed);
}

void Tallies::end(const Object& object) {
  Context& context = contexts_[object.context];
  context.live_bytes -= object.bytes;
  context.accesses += object.rate.accesses;
  context.misses += object.rate.misses;
  if (object.rate.accesses < kMinAccesses) return;
  const double rate = object.rate.value();
  objects_.add(rate);
  ++context.rated;
  context.sum += rate;
  context.squares += rate * rate;
  sampling_.add((uint64_t{object.bytes} + kPageBytes - 1) / kPageBytes, object.pages);
  for (const Rate& page : object.pages) {
    if (page.accesses < kMinAccesses) continue;
    const double difference = std::abs(page.value() - rate);
    const bool near = difference <= 0.1, sure = page.accesses >= kSureAccesses;
    ++pages_;
    near_pages_ += near;
    sure_pages_ += sure;
    near_sure_pages_ += near && sure;
    ++context.pages;
    context.near_pages += near;
    differences_.add(difference);
  }
}

void Tallies::finish() {
  for (const auto& [number, object] : live_) end(object);
  live_.clear();
}

}  // namespace halo::locality
