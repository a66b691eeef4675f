// What happens behind the first level.
#include "simulator/hierarchy.h"

#include <algorithm>
#include <stdexcept>

namespace halo::simulator {

Hierarchy::Hierarchy(const Machine& machine)
    : machine_(machine),
      line_shift_(std::countr_zero(machine.line)),
      page_shift_(std::countr_zero(machine.page)),
      huge_tlb_(machine.huge_tlb),
      streams_(machine.page / machine.line) {
  const auto refuse = [](size_t levels) { return levels == 0 || levels > kMostLevels; };
  if (!std::has_single_bit(machine.line) || !std::has_single_bit(machine.page) ||
      machine.page < machine.line || machine.page > 1u << Machine::kHugeShift ||
      refuse(machine.caches.size()) || refuse(machine.tlbs.size()))
    throw std::invalid_argument("no such machine can be simulated");
  for (const LevelSettings& level : machine.caches) {
    cache_cycles_[caches_.size()] = caches_.empty() ? 0 : level.cycles;
    caches_.emplace_back(level.shape);
  }
  for (const LevelSettings& level : machine.tlbs) {
    tlb_cycles_[tlbs_.size()] = tlbs_.empty() ? 0 : level.cycles;
    tlbs_.emplace_back(level.shape);
  }
  cache_cycles_[caches_.size()] = machine.memory_cycles;
  tlb_cycles_[tlbs_.size()] = machine.walk_cycles;
}

void Hierarchy::use_huge_pages(uint64_t address, uint64_t bytes) {
  constexpr uint64_t kLast = (1ULL << Machine::kHugeShift) - 1;
  if (machine_.huge_tlb.sets == 0) return;
  for (uint64_t page = (address + kLast) >> Machine::kHugeShift;
       page < (address + bytes) >> Machine::kHugeShift; ++page)
    huge_.insert(page);
}

uint8_t Hierarchy::translate(uint64_t page) {
  newest_page_ = page;
  if (!huge_.empty()) {
    const uint64_t huge = page >> (Machine::kHugeShift - page_shift_);
    if (huge == newest_huge_ || huge_.contains(huge)) {
      newest_huge_ = huge;
      return translate_in(huge_tlb_, huge | kHugeBlock);
    }
  }
  return translate_in(tlbs_.front(), page);
}

// `first` is the first level's for pages of that size; the levels behind it hold both.
uint8_t Hierarchy::translate_in(Cache& first, uint64_t block) {
  if (first.touch(block, false)) return 0;
  ++tlb_misses_[0];
  for (size_t level = 1; level < tlbs_.size(); ++level) {
    if (tlbs_[level].touch(block, false)) return put_into_tlbs(first, block, level);
    ++tlb_misses_[level];
  }
  return put_into_tlbs(first, block, tlbs_.size());
}

// Into those before the level that had it.
uint8_t Hierarchy::put_into_tlbs(Cache& first, uint64_t block, size_t level) {
  ++tlb_reached_[level];
  for (size_t above = level; above-- > 1;) tlbs_[above].insert(block, false);
  first.insert(block, false);
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
  uint64_t sum = 0;
  for (size_t level = 0; level <= kMostLevels; ++level)
    sum += cache_reached_[level] * cache_cycles_[level] + tlb_reached_[level] * tlb_cycles_[level];
  return sum;
}

}  // namespace halo::simulator
