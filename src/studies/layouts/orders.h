// Orders of objects: those of the thesis (Miucin, section 3.3), and controls.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "studies/layouts/communities.h"
#include "studies/layouts/object_facts.h"

namespace halo::layout {

// What orders are made from. Objects are allocation numbers; vertices are numbers of accessed
// objects.
struct Subject {
  const std::vector<ObjectFacts>& facts;
  const std::vector<uint64_t>& numbers;
  const Communities& communities;     // without the edges of hubs
  const std::vector<uint32_t>& hubs;  // vertices, in order of their first access
};

// All accessed objects, each once; allocation-order, by-context and by-type have all objects.
using Order = std::vector<uint64_t>;

// Which objects may have the same memory, one after the other, if they need as much.
using ShareKey = uint32_t (*)(const Subject&, uint64_t number);

inline uint32_t any_object(const Subject&, uint64_t) { return 0; }
inline uint32_t same_context(const Subject& subject, uint64_t number) {
  return subject.facts[number].context;
}
inline uint32_t same_type(const Subject& subject, uint64_t number) {
  return subject.facts[number].type.type;
}
// The community of the finest level.
inline uint32_t same_community(const Subject& subject, uint64_t number) {
  const uint32_t vertex = subject.facts[number].vertex;
  const bool none = vertex == ObjectFacts::kUnused || subject.communities.parents.empty();
  return none ? ObjectFacts::kUnused : subject.communities.parents.front()[vertex];
}

struct NamedOrder {
  std::string_view name;
  Order (*make)(const Subject&);
  ShareKey key;
};

Order allocation_order(const Subject& subject);
Order first_touch(const Subject& subject);
// Contexts by their first allocation; the objects of each in order of allocation.
Order by_context(const Subject& subject);
// Likewise by type; objects without one come first.
Order by_type(const Subject& subject);
// A fixed random order.
Order random_order(const Subject& subject);
// The whole graph by spectral sequencing. Here and in hml, hubs are first.
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
    {"allocation-order", allocation_order, any_object},
    {"first-touch", first_touch, any_object},
    {"by-context", by_context, same_context},
    {"by-type", by_type, same_type},
    {"random", random_order, any_object},
    {"reverse-hml", reverse_hml, same_community},
    {"spectral", spectral, any_object},
    {"hml", hml, same_community},
    {"hml-ordered", hml_ordered, same_community},
};

}  // namespace halo::layout
