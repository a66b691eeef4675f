// What an object trace tells about each object, and the graph of the objects that are used next to
// each other.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/memory_map.h"
#include "recorder/objects/visitor.h"
#include "studies/layouts/access_graph.h"
#include "studies/layouts/object_types.h"
#include "studies/layouts/phase.h"

namespace halo::layout {

inline constexpr uint64_t kLine = 64;  // bytes

struct ObjectFacts {
  uint64_t address = 0;
  uint32_t size = 0;
  uint32_t context = 0;
  ObjectType type = {};
  uint32_t alignment = 1;      // in bytes, if requested: at least what was asked for
  bool in_huge_pages = false;  // as recorded: the program requested them for its address
  uint32_t vertex = kUnused;   // numbered by first access
  uint64_t touched = 0;        // a bit for each 64th of the object that was accessed
  // By a clock of allocations and frees, from 1; 0: the object is not in the trace.
  uint32_t born = 0;
  uint32_t died = kNever;

  static constexpr uint32_t kUnused = UINT32_MAX;
  static constexpr uint32_t kNever = UINT32_MAX;
  static constexpr uint32_t kParts = 64;

  bool exists() const { return born != 0; }
  bool exceeds_line() const { return size > kLine; }
  uint32_t part_bytes() const { return std::max((size + kParts - 1) / kParts, 1u); }
  // At most the bytes that were accessed, rounded up to parts.
  uint64_t touched_bytes() const {
    return std::min<uint64_t>(uint64_t{uint32_t(std::popcount(touched))} * part_bytes(), size);
  }
  void touch(uint32_t offset, uint32_t bytes) {
    const uint32_t first = std::min(offset / part_bytes(), kParts - 1);
    const uint64_t end = uint64_t{offset} + bytes;
    const auto last = uint32_t(std::min<uint64_t>((end - 1) / part_bytes(), kParts - 1));
    touched |= UINT64_MAX >> (kParts - 1 - (last - first)) << first;
  }
};

// Visits a trace. An object that a thread accesses several times in a row counts once (HALO,
// section 4.1). An access in the span pairs with each of the thread's `window` objects before it,
// as if there were no accesses to objects that are not to be in the graph.
class FactsReader : public objects::Visitor {
 public:
  explicit FactsReader(size_t window, PhaseSpan span = {}, ObjectTypes types = {})
      : window_(window), span_(span), types_(std::move(types)) {}

  void allocate(const objects::Allocation& one) {
    ++objects_;
    if (one.number >= facts_.size()) facts_.resize(one.number + 1);
    facts_[one.number] = {.address = one.address,
                          .size = one.size,
                          .context = base::index(one.context),
                          .type = one.number < types_.size() ? types_[one.number] : ObjectType{},
                          .in_huge_pages = is_in_huge_pages(one.address),
                          .born = tick()};
  }
  void define(const objects::Allocation& one) { allocate(one); }
  void access(base::ThreadId thread, uint64_t number, uint32_t offset, uint32_t size, bool) {
    const bool pairs = span_.contains(to_objects_ + outside_);
    ++to_objects_;
    facts_[number].touch(offset, size);
    const uint32_t vertex = vertex_of(number);
    if (!facts_[number].type.in_graph) return;
    if (base::index(thread) >= newest_.size()) newest_.resize(base::index(thread) + 1);
    std::vector<uint32_t>& newest = newest_[base::index(thread)];
    if (!newest.empty() && newest.back() == vertex) return;
    for (const uint32_t other : newest)
      if (pairs && other != vertex) pairs_.add(vertex, other);
    if (newest.size() == window_) newest.erase(newest.begin());
    newest.push_back(vertex);
  }
  void access_outside(base::ThreadId, uint64_t address, uint32_t size, bool) {
    ++outside_;
    const uint64_t first = address / kLine, last = (address + size - 1) / kLine;
    if (first == newest_line_ && last == first) return;
    newest_line_ = last;
    outside_lines_.insert(first);
    outside_lines_.insert(last);
  }
  void access_block(base::ThreadId, uint64_t, int64_t, uint32_t, bool) { ++outside_; }
  // A request states a power of two, of which the address shows the least multiple it can be.
  void align(uint64_t number) {
    ObjectFacts& one = facts_[number];
    constexpr uint64_t kPage = 4096;
    one.alignment = uint32_t(std::min(one.address & -one.address, kPage));
  }
  void free(uint64_t number) { facts_[number].died = tick(); }
  void revive(uint64_t number) { facts_[number].died = ObjectFacts::kNever; }
  void huge_pages(uint64_t address, uint64_t bytes) {
    huge_.push_back({address, address + bytes});
    for (ObjectFacts& one : facts_) one.in_huge_pages |= huge_.back().contains(one.address);
  }
  void repeat(base::ThreadId, uint64_t count) { repeats_ += count; }

  // By allocation number. The first belongs to no object, nor do those that were never born.
  const std::vector<ObjectFacts>& facts() const { return facts_; }
  uint64_t objects() const { return objects_; }
  // By vertex: the allocation number.
  const std::vector<uint64_t>& numbers() const { return numbers_; }
  Graph take_graph() { return make_graph(numbers_.size(), pairs_.take()); }
  const PairCounter& pairs() const { return pairs_; }
  uint64_t accesses() const { return to_objects_ + outside_ + repeats_; }
  uint64_t to_objects() const { return to_objects_; }
  // Lines that every layout without reuse of memory has to fetch once, in the whole run: as many
  // as the accessed bytes of objects fill, if nothing else were in them, and those outside.
  uint64_t min_lines() const {
    uint64_t bytes = 0;
    for (const ObjectFacts& one : facts_) bytes += one.touched_bytes();
    return (bytes + kLine - 1) / kLine + outside_lines_.size();
  }

 private:
  uint32_t tick() {
    if (clock_ < ObjectFacts::kNever - 1) ++clock_;
    return clock_;
  }
  bool is_in_huge_pages(uint64_t address) const {
    return std::any_of(huge_.begin(), huge_.end(),
                       [&](AddressRange range) { return range.contains(address); });
  }
  uint32_t vertex_of(uint64_t number) {
    uint32_t& vertex = facts_[number].vertex;
    if (vertex == ObjectFacts::kUnused) [[unlikely]] {
      vertex = uint32_t(numbers_.size());
      numbers_.push_back(number);
    }
    return vertex;
  }

  size_t window_;
  PhaseSpan span_;
  ObjectTypes types_;
  std::vector<ObjectFacts> facts_ = std::vector<ObjectFacts>(1);
  std::vector<uint64_t> numbers_;
  std::vector<std::vector<uint32_t>> newest_;  // by thread: vertices, the latest last
  PairCounter pairs_;
  std::vector<AddressRange> huge_;
  std::unordered_set<uint64_t> outside_lines_;
  uint64_t newest_line_ = UINT64_MAX;
  uint32_t clock_ = 0;
  uint64_t objects_ = 0, to_objects_ = 0, outside_ = 0, repeats_ = 0;
};

}  // namespace halo::layout
