#include "studies/pollution/locality/sampling_errors.h"

#include <bit>
#include <cmath>

#include "studies/pollution/monitor/sampled_pages.h"

namespace halo::locality {

void SamplingErrors::add(uint64_t pages, const std::vector<Rate>& rates) {
  if (pages < 2) return;
  Rate all;
  for (const Rate& rate : rates) all += rate;
  Interval& interval = intervals_[uint32_t(std::bit_width(pages) - 1)];
  ++interval.objects;
  interval.pages += pages;
  const uint64_t count = watch::sample_count(pages, exponent_);
  interval.within += error(pages, rates, count, all.value()) <= kMaxError;
  interval.needed += needed(pages, rates, all.value());
}

double SamplingErrors::error(uint64_t pages, const std::vector<Rate>& rates, uint64_t count,
                             double all) {
  Rate sampled;
  watch::for_each_sampled(pages, count, random_, [&](uint64_t page) {
    if (page < rates.size()) sampled += rates[page];
  });
  return std::abs(sampled.value() - all);
}

// Counts grow by an eighth, so that large objects do not cost the square of their pages.
uint64_t SamplingErrors::needed(uint64_t pages, const std::vector<Rate>& rates, double all) {
  for (uint64_t count = 1; count < pages; count += 1 + count / 8) {
    double sum = 0;
    for (int draw = 0; draw < kDraws; ++draw) sum += error(pages, rates, count, all);
    if (sum <= kMaxError * kDraws) return count;
  }
  return pages;
}

}  // namespace halo::locality
