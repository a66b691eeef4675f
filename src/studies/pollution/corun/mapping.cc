#include "studies/pollution/corun/mapping.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "base/random.h"
#include "studies/pollution/corun/selection.h"

namespace halo::corun {

namespace {

using Context = std::pair<size_t, uint32_t>;  // program and context

std::set<Context> random_contexts(const std::vector<const Stream*>& programs, uint64_t seed) {
  std::vector<Context> candidates;
  size_t polluting = 0;
  for (size_t program = 0; program < programs.size(); ++program) {
    struct Count {
      uint64_t requests = 0, exact = 0;
    };
    std::map<uint32_t, Count> counts;
    uint64_t all = 0;
    for (const OwnerEntry& owner : programs[program]->owners) {
      if (owner.is_object == 0) continue;
      all += owner.requests;
      counts[owner.context].requests += owner.requests;
      if (owner.exact != 0) counts[owner.context].exact += owner.requests;
    }
    for (const auto& [context, count] : counts) {
      if (count.requests == 0 || count.requests * 100 < all) continue;
      candidates.emplace_back(program, context);
      polluting += count.exact * 2 > count.requests;
    }
  }
  base::Random(seed).shuffle(candidates.data(), candidates.size());
  return {candidates.begin(), candidates.begin() + int64_t(polluting)};
}

}  // namespace

std::optional<Classes> classes_of(std::string_view name) {
  static constexpr std::array<std::string_view, 8> kNames = {
      "open", "exact", "online", "predicted", "learnt", "confined", "selected", "random"};
  const auto* const found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return Classes(found - kNames.begin());
}

std::vector<std::vector<bool>> confined_owners(const simulator::Machine& machine,
                                               const Colours& colours,
                                               const std::vector<const Stream*>& programs,
                                               Classes classes, uint64_t seed) {
  if (classes == Classes::kSelected) {
    std::vector<std::vector<bool>> selected;
    for (const Stream* program : programs)
      selected.push_back(select_owners(machine, colours, *program));
    return selected;
  }
  std::set<Context> random;
  if (classes == Classes::kRandom) random = random_contexts(programs, seed);
  const auto confines = [&](size_t program, const OwnerEntry& owner) {
    if (owner.is_object == 0) return false;
    switch (classes) {
      case Classes::kOpen:
      case Classes::kSelected:
        return false;
      case Classes::kExact:
        return owner.exact != 0;
      case Classes::kOnline:
        return owner.online != 0;
      case Classes::kPredicted:
        return owner.predicted != 0;
      case Classes::kLearnt:
        return owner.learnt != 0;
      case Classes::kConfined:
        return true;
      case Classes::kRandom:
        return random.contains({program, owner.context});
    }
    return false;
  };
  std::vector<std::vector<bool>> confined;
  for (size_t program = 0; program < programs.size(); ++program) {
    std::vector<bool>& mine = confined.emplace_back();
    for (const OwnerEntry& owner : programs[program]->owners)
      mine.push_back(confines(program, owner));
  }
  return confined;
}

}  // namespace halo::corun
