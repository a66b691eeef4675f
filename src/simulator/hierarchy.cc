// Accesses beyond the first level.
#include "simulator/hierarchy.h"

#include <stdexcept>

namespace halo::simulator {

Hierarchy::Hierarchy(const Machine& machine, Memory* memory)
    : machine_(machine),
      memory_(memory),
      line_shift_(std::countr_zero(machine.line)),
      page_shift_(std::countr_zero(machine.page)),
      lines_of_page_(machine.page / machine.line),
      regions_(line_shift_, page_shift_),
      huge_tlb_(machine.huge_tlb),
      streams_(lines_of_page_) {
  const auto refuse = [](size_t levels) { return levels == 0 || levels > kMaxLevels; };
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
  huge_.add((address + kLast) >> Machine::kHugeShift, (address + bytes) >> Machine::kHugeShift);
}

uint8_t Hierarchy::translate_huge(Block page) {
  // Distinguishes a region of one huge page from small pages with the same numbers.
  constexpr uint64_t kHugeRegion = 1ULL << 62;
  const int pages_shift = Machine::kHugeShift - page_shift_;
  const uint64_t huge = page.number >> pages_shift;
  if (huge != newest_huge_ && !huge_.contains(huge)) return translate_in(tlbs_.front(), page);
  newest_huge_ = huge;
  const uint32_t first_page = uint32_t(huge) << pages_shift;
  return translate_in(huge_tlb_, {huge, first_page + regions_.of(huge | kHugeRegion).to_page});
}

// `first` is the first level for that page size; the levels behind it hold both sizes.
uint8_t Hierarchy::translate_in(Cache& first, Block page) {
  if (first.touch_newest(page, false)) return 0;
  ++tlb_misses_[0];
  for (size_t level = 1; level < tlbs_.size(); ++level) {
    if (tlbs_[level].touch(page, false)) return put_into_tlbs(first, page, level);
    ++tlb_misses_[level];
  }
  return put_into_tlbs(first, page, tlbs_.size());
}

// Inserts the page into the levels before the one that had it.
uint8_t Hierarchy::put_into_tlbs(Cache& first, Block page, size_t level) {
  ++tlb_reached_[level];
  for (size_t above = level; above-- > 1;) tlbs_[above].insert(page, false);
  first.insert(page, false);
  return uint8_t(level);
}

uint8_t Hierarchy::fetch(Block line, bool store) {
  for (size_t level = 1; level < caches_.size(); ++level) {
    caches_[level].expect(line);
    if (machine_.next_line) caches_[level].expect(line.behind(1));
  }
  demanded_ = line.number;
  const uint8_t reach = load(0, line, store);
  ++cache_reached_[reach];
  const bool ends_page = (line.number + 1) % lines_of_page_ == 0;
  if (machine_.next_line && !ends_page) prefetch(0, line.behind(1));
  if (machine_.streams && (caches_.size() > 1 || memory_ != nullptr))
    streams_.on_access(line, [this](Block ahead) { prefetch(1, ahead); });
  return reach;
}

// A miss of the level: loads the line from the next one. Returns the level that had it.
uint8_t Hierarchy::load(size_t level, Block line, bool store) {
  ++cache_misses_[level];
  const size_t next = level + 1;
  uint8_t reach = uint8_t(next);
  if (next == caches_.size()) {
    if (memory_ != nullptr) memory_->read(line, line.number == demanded_);
  } else if (!caches_[next].touch(line, false)) {
    reach = load(next, line, false);
  }
  put(level, line, store);
  return reach;
}

// Inserts the line, and writes the replaced one back to the next level.
void Hierarchy::put(size_t level, Block line, bool store) {
  const uint32_t replaced = caches_[level].insert(line, store);
  if (replaced == 0) return;
  if (level + 1 < caches_.size())
    write_back(level + 1, regions_.line(replaced));
  else if (memory_ != nullptr)
    memory_->write_back(regions_.line(replaced));
}

void Hierarchy::write_back(size_t level, Block line) {
  if (!caches_[level].write_back(line)) load(level, line, true);
}

// Inserts the line into the level and those behind it that do not have it.
void Hierarchy::prefetch(size_t level, Block line) {
  if (level == caches_.size()) {
    if (memory_ != nullptr) memory_->prefetch(line, false);
    return;
  }
  if (caches_[level].holds(line)) return;
  if (level + 1 < caches_.size())
    prefetch(level + 1, line);
  else if (memory_ != nullptr)
    memory_->prefetch(line, true);
  ++prefetched_[level];
  put(level, line, false);
}

uint64_t Hierarchy::cycles() const {
  uint64_t sum = 0;
  for (size_t level = 0; level <= kMaxLevels; ++level)
    sum += cache_reached_[level] * cache_cycles_[level] + tlb_reached_[level] * tlb_cycles_[level];
  return sum;
}

}  // namespace halo::simulator
