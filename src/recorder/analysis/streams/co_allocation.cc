// Places each stream's objects in a pool shared by its sites, and counts cache lines.
#include "recorder/analysis/streams/co_allocation.h"

#include <algorithm>
#include <map>

namespace halo::sinks {

namespace {

constexpr uint64_t kLine = 64;

// The lines that a set of objects occupies.
class Lines {
 public:
  void clear() { lines_.clear(); }
  void add(uint64_t address, uint32_t size) {
    const uint64_t last = (address + std::max(size, 1u) - 1) / kLine;
    for (uint64_t line = address / kLine; line <= last; ++line) lines_.push_back(line);
  }
  uint64_t distinct() {
    std::sort(lines_.begin(), lines_.end());
    return uint64_t(std::unique(lines_.begin(), lines_.end()) - lines_.begin());
  }

 private:
  std::vector<uint64_t> lines_;
};

// A site's objects, in order of allocation.
struct Pool {
  std::vector<uint32_t> births;
  std::vector<uint64_t> bytes;  // the sum before each object

  uint64_t bytes_before(uint32_t birth) const {
    const size_t at =
        size_t(std::lower_bound(births.begin(), births.end(), birth) - births.begin());
    return at == births.size() ? end : bytes[at];
  }
  uint64_t end = 0;  // bytes of all
};

class Sites {
 public:
  Sites(std::span<const Birth> births, std::span<const uint32_t> site_of_context)
      : births_(births), site_of_context_(site_of_context) {
    uint32_t count = 0;
    for (const uint32_t site : site_of_context)
      count = std::max(count, site == kNoSite ? 0 : site + 1);
    pools_.resize(count);
    for (uint32_t at = 0; at < births.size(); ++at) {
      const uint32_t site = site_of(at);
      if (site == kNoSite) continue;
      Pool& pool = pools_[site];
      pool.births.push_back(at);
      pool.bytes.push_back(pool.end);
      pool.end += (births[at].size + 7) / 8 * 8;
    }
  }

  uint32_t site_of(uint32_t birth) const {
    const uint32_t context = base::index(births_[birth].context);
    return context < site_of_context_.size() ? site_of_context_[context] : kNoSite;
  }

  // The number of lines that an occurrence of the objects saves if the sites share a pool.
  uint64_t saved_by(const std::vector<uint32_t>& sites, const std::vector<uint32_t>& objects) {
    lines_.clear();
    for (const uint32_t object : objects) lines_.add(births_[object].address, births_[object].size);
    const uint64_t before = lines_.distinct();
    lines_.clear();
    for (const uint32_t object : objects) {
      uint64_t place = 0;
      for (const uint32_t site : sites) place += pools_[site].bytes_before(object);
      lines_.add(place, births_[object].size);
    }
    const uint64_t after = lines_.distinct();
    return before > after ? before - after : 0;
  }

 private:
  std::span<const Birth> births_;
  std::span<const uint32_t> site_of_context_;
  std::vector<Pool> pools_;  // by site
  Lines lines_;
};

template <class Numbers>
void sort_unique(Numbers& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

}  // namespace

std::vector<CoAllocationSet> co_allocation_sets(const HotStreams& streams,
                                                std::span<const Birth> births,
                                                std::span<const uint32_t> site_of_context) {
  Sites sites(births, site_of_context);
  std::map<std::vector<uint32_t>, CoAllocationSet> by_sites;
  for (const HotStream& stream : streams.streams) {
    std::vector<uint32_t> objects = stream.terminals;
    sort_unique(objects);
    std::erase_if(objects, [&](uint32_t object) { return sites.site_of(object) == kNoSite; });
    std::vector<uint32_t> own;
    for (const uint32_t object : objects) own.push_back(sites.site_of(object));
    sort_unique(own);
    const uint64_t saved = own.empty() ? 0 : sites.saved_by(own, objects);
    if (saved == 0) continue;
    CoAllocationSet& set = by_sites[own];
    set.sites = own;
    ++set.streams;
    set.heat += stream.heat();
    set.saved += saved * stream.occurrences;
  }
  std::vector<CoAllocationSet> sets;
  for (auto& [own, set] : by_sites) sets.push_back(std::move(set));
  std::stable_sort(sets.begin(), sets.end(),
                   [](const auto& a, const auto& b) { return a.saved > b.saved; });
  if (sets.size() > kMaxSets) sets.resize(kMaxSets);
  return sets;
}

}  // namespace halo::sinks
