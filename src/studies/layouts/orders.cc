// Makes the orders of objects.
#include "studies/layouts/orders.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <span>

#include "studies/layouts/spectral.h"

namespace halo::layout {

namespace {

// Walks the communities from the coarsest level, and appends vertices of the finest graph.
class Walk {
 public:
  Walk(const Communities& communities, bool spectral_siblings)
      : communities_(communities), spectral_siblings_(spectral_siblings) {
    for (size_t level = 0; level < communities.parents.size(); ++level) {
      const std::vector<uint32_t>& parents = communities.parents[level];
      children_.emplace_back(communities.graphs[level + 1].vertices());
      for (uint32_t vertex = 0; vertex < parents.size(); ++vertex)
        children_.back()[parents[vertex]].push_back(vertex);
    }
  }

  std::vector<uint32_t> order() {
    std::vector<uint32_t> top(communities_.graphs.back().vertices());
    std::iota(top.begin(), top.end(), 0);
    append(top, children_.size());
    return std::move(found_);
  }

 private:
  // Appends the vertices in communities of a level, siblings.
  void append(std::span<const uint32_t> siblings, size_t level) {
    const bool by_vector = level == 0 || spectral_siblings_;
    const std::vector<uint32_t> order =
        by_vector ? spectral_order(communities_.graphs[level], siblings)
                  : std::vector<uint32_t>(siblings.begin(), siblings.end());
    for (const uint32_t one : order) {
      if (level == 0) {
        found_.push_back(one);
      } else {
        append(children_[level - 1][one], level - 1);
      }
    }
  }

  const Communities& communities_;
  bool spectral_siblings_;
  std::vector<std::vector<std::vector<uint32_t>>> children_;  // by level and community, ascending
  std::vector<uint32_t> found_;
};

Order numbers_of(const Subject& subject, std::span<const uint32_t> vertices) {
  std::vector<bool> is_hub(subject.numbers.size());
  Order found;
  found.reserve(vertices.size());
  for (const uint32_t hub : subject.hubs) {
    is_hub[hub] = true;
    found.push_back(subject.numbers[hub]);
  }
  for (const uint32_t vertex : vertices)
    if (!is_hub[vertex]) found.push_back(subject.numbers[vertex]);
  return found;
}

// By an ascending key, then in order of allocation.
Order by_key(const Subject& subject, ShareKey key) {
  Order order = allocation_order(subject);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint64_t a, uint64_t b) { return key(subject, a) < key(subject, b); });
  return order;
}

}  // namespace

Order allocation_order(const Subject& subject) {
  Order order;
  for (uint64_t number = 1; number < subject.facts.size(); ++number)
    if (subject.facts[number].exists()) order.push_back(number);
  return order;
}

Order first_touch(const Subject& subject) { return subject.numbers; }

Order by_context(const Subject& subject) { return by_key(subject, same_context); }

Order by_type(const Subject& subject) { return by_key(subject, same_type); }

Order random_order(const Subject& subject) {
  Order order = subject.numbers;
  std::mt19937_64 random(1);
  for (size_t left = order.size(); left > 1; --left)
    std::swap(order[left - 1], order[random() % left]);
  return order;
}

Order spectral(const Subject& subject) {
  return numbers_of(subject, spectral_order(subject.communities.graphs.front()));
}

Order hml(const Subject& subject) {
  return numbers_of(subject, Walk(subject.communities, false).order());
}

Order hml_ordered(const Subject& subject) {
  return numbers_of(subject, Walk(subject.communities, true).order());
}

Order reverse_hml(const Subject& subject) {
  Order order = hml(subject);
  std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace halo::layout
