#include "studies/pollution/locality/watched.h"

#include "base/ids.h"

namespace halo::locality {

watch::Mapping Watched::allocate(const objects::Allocation& one, const watch::Now& now) {
  const uint64_t pages = (uint64_t{one.size} + kPageBytes - 1) / kPageBytes;
  return monitor_.allocated(one.number, one.size, base::index(one.context), one.number << kPageBits,
                            pages, read(now));
}

void Watched::free(uint64_t number, const watch::Now& now) {
  monitor_.freed(number, read(now));
  if (has_pages(number)) has_pages_[number] = false;
}

void Watched::arm(watch::Page page) {
  pages_[page].armed = true;
  const uint64_t number = page >> kPageBits;
  if (number >= has_pages_.size()) has_pages_.resize(number + 1);
  has_pages_[number] = true;
}

void Watched::access(uint64_t number, uint32_t offset, const watch::Now& now) {
  if (!has_pages(number)) return;
  const watch::Page page = number << kPageBits | offset / kPageBytes;
  auto found = pages_.find(page);
  if (found == pages_.end()) return;
  if (found->second.armed) {
    found->second.armed = false;
    monitor_.referenced(page, read(now));
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
  if (number >= types_.size()) types_.resize(number + 1, watch::Type::kUnknown);
  watch::Type& type = types_[number];
  if (type == watch::Type::kUnknown) type = monitor_.type_of(hits, misses);
}

}  // namespace halo::locality
