// Births and deaths of objects, in order of time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "studies/layouts/object_facts.h"

namespace halo::layout {

struct LifeEvent {
  uint64_t number;  // of the object
  bool is_death;
};

inline std::vector<LifeEvent> lifetimes(const std::vector<ObjectFacts>& facts) {
  std::vector<LifeEvent> events;
  for (uint64_t number = 1; number < facts.size(); ++number) {
    if (!facts[number].exists()) continue;
    events.push_back({number, false});
    if (facts[number].died != ObjectFacts::kNever) events.push_back({number, true});
  }
  const auto time = [&](const LifeEvent& event) {
    const ObjectFacts& one = facts[event.number];
    return event.is_death ? one.died : one.born;
  };
  std::stable_sort(events.begin(), events.end(),
                   [&](const LifeEvent& a, const LifeEvent& b) { return time(a) < time(b); });
  return events;
}

}  // namespace halo::layout
