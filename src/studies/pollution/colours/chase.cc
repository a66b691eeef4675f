#include "studies/pollution/colours/chase.h"

#include <time.h>

#include <utility>

#include "base/random.h"

namespace halo::colours {

namespace {

using Link = void*;

double now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return double(time.tv_sec) * 1e9 + double(time.tv_nsec);
}

}  // namespace

void link_lines(const ResidentPages& pages, const std::vector<size_t>& chosen, uint64_t seed) {
  std::vector<char*> lines;
  for (const size_t page : chosen)
    for (size_t at = 0; at < kPageBytes; at += kLineBytes) lines.push_back(pages[page] + at);
  base::Random random(seed);
  for (size_t left = lines.size(); left > 1; --left)
    std::swap(lines[left - 1], lines[random.below(left)]);
  for (size_t at = 0; at < lines.size(); ++at)
    *reinterpret_cast<Link*>(lines[at]) = lines[(at + 1) % lines.size()];
}

double chase(const ResidentPages& pages, size_t page, size_t loads) {
  Link at = pages[page];
  const double begin = now_ns();
  for (size_t load = 0; load < loads; ++load) at = *static_cast<Link volatile*>(at);
  const double end = now_ns();
  return (end - begin) / double(loads);
}

}  // namespace halo::colours
