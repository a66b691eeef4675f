// What happens behind the first level.
#include "simulator/hierarchy.h"

#include <algorithm>
#include <stdexcept>

namespace halo::simulator {

Hierarchy::Hierarchy(const Machine& machine)
    : machine_(machine),
      line_shift_(std::countr_zero(machine.line)),
      page_shift_(std::countr_zero(machine.page)),
      streams_(machine.page / machine.line) {
  const auto refuse = [](size_t levels) { return levels == 0 || levels > kMostLevels; };
  if (!std::has_single_bit(machine.line) || !std::has_single_bit(machine.page) ||
      machine.page < machine.line || refuse(machine.caches.size()) || refuse(machine.tlbs.size()))
    throw std::invalid_argument("no such machine can be simulated");
  for (const LevelSettings& level : machine.caches) caches_.emplace_back(level.shape);
  for (const LevelSettings& level : machine.tlbs) tlbs_.emplace_back(level.shape);
}

uint8_t Hierarchy::translate(uint64_t page) {
  newest_page_ = page;
  for (size_t level = 0; level < tlbs_.size(); ++level) {
    if (tlbs_[level].touch(page, false)) {
      return put_into_tlbs(page, level);
    }
    ++tlb_misses_[level];
  }
  return put_into_tlbs(page, tlbs_.size());
}

// Into those before the level that had it.
uint8_t Hierarchy::put_into_tlbs(uint64_t page, size_t level) {
  ++tlb_reached_[level];
  for (size_t above = level; above-- > 0;) tlbs_[above].insert(page, false);
  return uint8_t(level);
}

uint8_t Hierarchy::fetch(uint64_t line, bool store) {
  for (size_t level = 1; level < caches_.size(); ++level) {
    caches_[level].expect(line);
    if (machine_.next_line) caches_[level].expect(line + 1);
  }
  const uint8_t reach = load(0, line, store);
  ++cache_reached_[reach];
  if (machine_.next_line && (line + 1) % (machine_.page / machine_.line) != 0)
    prefetch(0, line + 1);
  if (machine_.streams && caches_.size() > 1)
    streams_.ask(line, [this](uint64_t ahead) { prefetch(1, ahead); });
  return reach;
}

// The level does not have the line: gets it from the next one. Returns who had it.
uint8_t Hierarchy::load(size_t level, uint64_t line, bool store) {
  ++cache_misses_[level];
  const size_t next = level + 1;
  uint8_t reach = uint8_t(next);
  if (next < caches_.size() && !caches_[next].touch(line, false)) reach = load(next, line, false);
  const uint64_t replaced = caches_[level].insert(line, store);
  if (replaced != Cache::kNone && next < caches_.size()) write_back(next, replaced);
  return reach;
}

void Hierarchy::write_back(size_t level, uint64_t line) {
  if (!caches_[level].write_back(line)) load(level, line, true);
}

// Puts the line into the level and those behind it that do not have it.
void Hierarchy::prefetch(size_t level, uint64_t line) {
  if (caches_[level].holds(line)) return;
  const size_t next = level + 1;
  if (next < caches_.size()) prefetch(next, line);
  ++prefetched_[level];
  const uint64_t replaced = caches_[level].insert(line, false);
  if (replaced != Cache::kNone && next < caches_.size()) write_back(next, replaced);
}

void Hierarchy::second_line(uint64_t last, bool store, Reach& reach) {
  const uint64_t line = last >> line_shift_, page = last >> page_shift_;
  if (page != newest_page_) reach.tlb = std::max(reach.tlb, translate(page));
  if (!caches_.front().touch(line, store)) reach.cache = std::max(reach.cache, fetch(line, store));
}

uint64_t Hierarchy::cycles() const {
  uint64_t sum = cache_reached_[caches_.size()] * machine_.memory_cycles +
                 tlb_reached_[tlbs_.size()] * machine_.walk_cycles;
  for (size_t level = 1; level < caches_.size(); ++level)
    sum += cache_reached_[level] * machine_.caches[level].cycles;
  for (size_t level = 1; level < tlbs_.size(); ++level)
    sum += tlb_reached_[level] * machine_.tlbs[level].cycles;
  return sum;
}

}  // namespace halo::simulator
