// Pages of one colour, and pages of all colours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace halo::colours {

// A colour is the part of a set's index that a frame decides: the frame modulo the number of
// colours, which is a power of two (NightWatch, section 2.1).
struct PageChoice {
  std::vector<size_t> same;    // pages of one colour
  std::vector<size_t> spread;  // as many, of all colours in equal parts
};

// `count` pages each; nothing if no colour has as many.
inline std::optional<PageChoice> choose_pages(const std::vector<uint64_t>& frames, uint64_t colours,
                                              size_t count) {
  std::vector<std::vector<size_t>> by_colour(colours);
  for (size_t page = 0; page < frames.size(); ++page)
    by_colour[frames[page] % colours].push_back(page);
  PageChoice chosen;
  for (const std::vector<size_t>& pages : by_colour)
    if (chosen.same.empty() && pages.size() >= count)
      chosen.same.assign(pages.begin(), pages.begin() + static_cast<long>(count));
  for (size_t row = 0; chosen.spread.size() < count && row < frames.size(); ++row)
    for (const std::vector<size_t>& pages : by_colour)
      if (row < pages.size() && chosen.spread.size() < count) chosen.spread.push_back(pages[row]);
  if (chosen.same.size() < count || chosen.spread.size() < count) return std::nullopt;
  return chosen;
}

}  // namespace halo::colours
