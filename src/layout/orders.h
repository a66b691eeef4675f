// Orders of objects: those of the thesis (Miucin, section 3.3), and controls.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "layout/communities.h"
#include "layout/object_facts.h"

namespace halo::layout {

// What orders are made from. Objects are allocation numbers; vertices are numbers of accessed
// objects.
struct Subject {
  const std::vector<ObjectFacts>& facts;
  const std::vector<uint64_t>& numbers;
  const Communities& communities;
};

// All accessed objects, each once; allocation-order and by-context have all objects.
using Order = std::vector<uint64_t>;

struct NamedOrder {
  std::string_view name;
  Order (*make)(const Subject&);
};

Order allocation_order(const Subject& subject);
Order first_touch(const Subject& subject);
// Contexts by their first allocation; the objects of each in order of allocation.
Order by_context(const Subject& subject);
// A fixed random order.
Order random_order(const Subject& subject);
// The whole graph by spectral sequencing.
Order spectral(const Subject& subject);
// The hierarchical memory layout: by the vector of communities, the coarsest first, then by the
// place in spectral sequencing of the finest community. Sibling communities are in order of their
// first access.
Order hml(const Subject& subject);
// Likewise, but siblings of each level are in the order of spectral sequencing of their fused
// graph.
Order hml_ordered(const Subject& subject);
// A control: hml from its end.
Order reverse_hml(const Subject& subject);

inline constexpr NamedOrder kOrders[] = {
    {"allocation-order", allocation_order},
    {"first-touch", first_touch},
    {"by-context", by_context},
    {"random", random_order},
    {"reverse-hml", reverse_hml},
    {"spectral", spectral},
    {"hml", hml},
    {"hml-ordered", hml_ordered},
};

}  // namespace halo::layout
