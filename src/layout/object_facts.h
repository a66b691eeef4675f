// What an object trace tells about each object, and the graph of the objects that are used next to
// each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "layout/access_graph.h"
#include "objects/allocation.h"

namespace halo::layout {

struct ObjectFacts {
  uint64_t address = 0;
  uint32_t size = 0;
  uint32_t context = 0;
  uint32_t vertex = kUnused;  // numbered by first access

  static constexpr uint32_t kUnused = UINT32_MAX;
};

// Visits a trace. An object that a thread accesses several times in a row counts once (HALO,
// section 4.1). An access pairs with each of the thread's `window` objects before it.
class FactsReader {
 public:
  explicit FactsReader(size_t window) : window_(window) {}

  void allocate(const objects::Allocation& one) {
    if (one.number >= facts_.size()) facts_.resize(one.number + 1);
    facts_[one.number] = {one.address, one.size, base::index(one.context)};
  }
  void define(const objects::Allocation& one) { allocate(one); }
  void access(base::ThreadId thread, uint64_t number, uint32_t, uint32_t, bool) {
    ++to_objects_;
    const uint32_t vertex = vertex_of(number);
    if (base::index(thread) >= newest_.size()) newest_.resize(base::index(thread) + 1);
    std::vector<uint32_t>& newest = newest_[base::index(thread)];
    if (!newest.empty() && newest.back() == vertex) return;
    for (const uint32_t other : newest)
      if (other != vertex) pairs_.add(vertex, other);
    if (newest.size() == window_) newest.erase(newest.begin());
    newest.push_back(vertex);
  }
  void access_outside(base::ThreadId, uint64_t, uint32_t, bool) { ++outside_; }
  void free(uint64_t) {}
  void revive(uint64_t) {}
  void huge_pages(uint64_t, uint64_t) {}
  void repeat(base::ThreadId, uint64_t count) { repeats_ += count; }

  // By allocation number; the first belongs to no object.
  const std::vector<ObjectFacts>& facts() const { return facts_; }
  // By vertex: the allocation number.
  const std::vector<uint64_t>& numbers() const { return numbers_; }
  Graph take_graph() { return make_graph(numbers_.size(), pairs_.take()); }
  const PairCounter& pairs() const { return pairs_; }
  uint64_t accesses() const { return to_objects_ + outside_ + repeats_; }
  uint64_t to_objects() const { return to_objects_; }

 private:
  uint32_t vertex_of(uint64_t number) {
    uint32_t& vertex = facts_[number].vertex;
    if (vertex == ObjectFacts::kUnused) [[unlikely]] {
      vertex = uint32_t(numbers_.size());
      numbers_.push_back(number);
    }
    return vertex;
  }

  size_t window_;
  std::vector<ObjectFacts> facts_ = std::vector<ObjectFacts>(1);
  std::vector<uint64_t> numbers_;
  std::vector<std::vector<uint32_t>> newest_;  // by thread: vertices, the latest last
  PairCounter pairs_;
  uint64_t to_objects_ = 0, outside_ = 0, repeats_ = 0;
};

}  // namespace halo::layout
