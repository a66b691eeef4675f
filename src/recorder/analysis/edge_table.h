// Counts by unordered pair of contexts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/ids.h"

namespace halo::sinks {

struct Edge {
  base::ContextId a;  // a <= b
  base::ContextId b;
  uint64_t weight;
};

// The source of a weight: all accesses of a time, or bursts, of which every other one forms an
// estimate of its own.
enum class EdgePart : int { kExact, kOdd, kEven };

// Pairs of the first contexts are counted in rows, one for each part and context with pairs: a row
// keeps thousands of pairs close together. The weight of such a pair is the sum of two rows'
// entries. Other pairs go to an open-addressing hash table.
class EdgeTable {
 public:
  static constexpr uint32_t kInRows = 1024;  // contexts; all rows take 24 MiB

  EdgeTable() : slots_(kInitialSlots) {}

  // Adds to a part of the weights of one context's edges. Valid until any other change of the
  // table.
  class Adder {
   public:
    void operator()(base::ContextId other) {
      if (row_ != nullptr && base::index(other) < kInRows) [[likely]]
        row_[base::index(other)] += weight_;
      else
        table_.add_to_slot(context_, other, weight_, part_);
    }

   private:
    friend EdgeTable;
    Adder(EdgeTable& table, base::ContextId context, uint64_t weight, EdgePart part)
        : table_(table),
          row_(table.row_of(context, part)),
          weight_(weight),
          context_(context),
          part_(part) {}

    EdgeTable& table_;
    uint64_t* const row_;
    const uint64_t weight_;
    const base::ContextId context_;
    const EdgePart part_;
  };
  Adder adder(base::ContextId context, uint64_t weight, EdgePart part) {
    return {*this, context, weight, part};
  }

  void clear();
  // In ascending order of (a, b).
  std::vector<Edge> edges() const;
  // The difference of the two estimates over the weights, both summed.
  double relative_error() const;

 private:
  static constexpr size_t kInitialSlots = 1024;

  struct Slot {
    uint64_t key = 0;
    uint64_t parts[3] = {};  // by EdgePart
  };
  using Row = std::unique_ptr<uint64_t[]>;

  // nullptr if the context has none.
  uint64_t* row_of(base::ContextId context, EdgePart part) {
    if (base::index(context) >= kInRows) return nullptr;
    Row& row = rows_[int(part)][base::index(context)];
    if (row == nullptr) row = std::make_unique<uint64_t[]>(kInRows);
    return row.get();
  }
  size_t slot_of(uint64_t key) const {
    return ((key * 0x9E3779B97F4A7C15ULL) >> 32) & (slots_.size() - 1);
  }
  void add_to_slot(base::ContextId x, base::ContextId y, uint64_t weight, EdgePart part);
  void grow();
  // By EdgePart, for two contexts that have rows.
  std::array<uint64_t, 3> in_rows(uint32_t a, uint32_t b) const;
  // Calls `visit` with the two contexts and the three parts of each edge.
  template <class Visit>
  void for_each_edge(Visit visit) const;

  std::array<std::array<Row, kInRows>, 3> rows_;  // by EdgePart and context
  std::vector<Slot> slots_;
  size_t used_ = 0;
};

}  // namespace halo::sinks
