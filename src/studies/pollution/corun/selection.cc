#include "studies/pollution/corun/selection.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace halo::corun {

namespace {

constexpr size_t kMaxContexts = 8;
constexpr uint64_t kRequestShare = 100;  // 1 / the least share of requests
constexpr uint64_t kSavedShare = 32;     // likewise of misses: frames alone change 2 % of few
constexpr uint64_t kFrameSeed = 0;       // those of mixes begin with 1

// With most requests first.
std::vector<uint32_t> candidates(const Stream& stream) {
  std::map<uint32_t, uint64_t> requests;
  uint64_t all = 0;
  for (const OwnerEntry& owner : stream.owners) {
    if (owner.is_object == 0) continue;
    requests[owner.context] += owner.requests;
    all += owner.requests;
  }
  std::vector<std::pair<uint64_t, uint32_t>> order;
  for (const auto& [context, count] : requests)
    if (count != 0 && count * kRequestShare >= all) order.emplace_back(count, context);
  std::sort(order.begin(), order.end(), std::greater<>());
  if (order.size() > kMaxContexts) order.resize(kMaxContexts);
  std::vector<uint32_t> contexts;
  for (const auto& [count, context] : order) contexts.push_back(context);
  return contexts;
}

std::vector<bool> owners_of(const Stream& stream, const std::set<uint32_t>& contexts) {
  std::vector<bool> confined;
  for (const OwnerEntry& owner : stream.owners)
    confined.push_back(owner.is_object != 0 && contexts.contains(owner.context));
  return confined;
}

}  // namespace

std::vector<bool> select_owners(const simulator::Machine& machine, const Colours& colours,
                                const Stream& stream) {
  std::set<uint32_t> chosen;
  const auto misses_with = [&](const std::set<uint32_t>& contexts) {
    return run_mix(machine, colours, {&stream}, {owners_of(stream, contexts)}, kFrameSeed)
        .front()
        .misses;
  };
  std::vector<uint32_t> left = candidates(stream);
  for (uint64_t least = misses_with(chosen); !left.empty();) {
    uint64_t best_misses = least - least / kSavedShare;
    auto best = left.end();
    for (auto one = left.begin(); one != left.end(); ++one) {
      std::set<uint32_t> tried = chosen;
      tried.insert(*one);
      const uint64_t misses = misses_with(tried);
      if (misses >= best_misses) continue;
      best_misses = misses;
      best = one;
    }
    if (best == left.end()) break;
    chosen.insert(*best);
    left.erase(best);
    least = best_misses;
  }
  return owners_of(stream, chosen);
}

}  // namespace halo::corun
