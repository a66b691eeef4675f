// The hash table, and the results.
#include "recorder/analysis/edge_table.h"

#include <algorithm>
#include <tuple>

namespace halo::sinks {

void EdgeTable::add_to_slot(base::ContextId x, base::ContextId y, uint64_t weight, EdgePart part) {
  const uint64_t low = std::min(base::index(x), base::index(y));
  const uint64_t high = std::max(base::index(x), base::index(y));
  // Stored plus one: a zero key is an empty slot.
  const uint64_t key = (low << 32 | high) + 1;
  size_t at = slot_of(key);
  while (slots_[at].key != key) {
    if (slots_[at].key == 0) {
      if (2 * (used_ + 1) > slots_.size()) {
        grow();
        return add_to_slot(x, y, weight, part);
      }
      ++used_;
      slots_[at].key = key;
      break;
    }
    at = (at + 1) & (slots_.size() - 1);
  }
  slots_[at].parts[int(part)] += weight;
}

void EdgeTable::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.key == 0) continue;
    size_t at = slot_of(slot.key);
    while (slots_[at].key != 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = slot;
  }
}

void EdgeTable::clear() {
  for (auto& rows : rows_)
    for (Row& row : rows) row.reset();
  slots_.assign(kInitialSlots, Slot{});
  used_ = 0;
}

std::array<uint64_t, 3> EdgeTable::in_rows(uint32_t a, uint32_t b) const {
  std::array<uint64_t, 3> parts{};
  for (size_t part = 0; part < parts.size(); ++part) {
    if (const Row& row = rows_[part][a]) parts[part] += row[b];
    if (const Row& row = rows_[part][b]; row && a != b) parts[part] += row[a];
  }
  return parts;
}

template <class Visit>
void EdgeTable::for_each_edge(Visit visit) const {
  for (uint32_t a = 0; a < kInRows; ++a) {
    for (uint32_t b = a; b < kInRows; ++b) {
      const auto parts = in_rows(a, b);
      if ((parts[0] | parts[1] | parts[2]) != 0) visit(a, b, parts);
    }
  }
  for (const Slot& slot : slots_) {
    if (slot.key == 0) continue;
    const uint64_t pair = slot.key - 1;
    visit(uint32_t(pair >> 32), uint32_t(pair), std::to_array(slot.parts));
  }
}

double EdgeTable::relative_error() const {
  uint64_t difference = 0, sum = 0;
  for_each_edge([&](uint32_t, uint32_t, const std::array<uint64_t, 3>& parts) {
    const auto [less, more] = std::minmax(parts[int(EdgePart::kOdd)], parts[int(EdgePart::kEven)]);
    difference += more - less;
    sum += parts[int(EdgePart::kExact)] + more + less;
  });
  return sum == 0 ? 0 : double(difference) / double(sum);
}

std::vector<Edge> EdgeTable::edges() const {
  std::vector<Edge> result;
  for_each_edge([&](uint32_t a, uint32_t b, const std::array<uint64_t, 3>& parts) {
    result.push_back({base::ContextId{a}, base::ContextId{b}, parts[0] + parts[1] + parts[2]});
  });
  std::sort(result.begin(), result.end(),
            [](const Edge& x, const Edge& y) { return std::tie(x.a, x.b) < std::tie(y.a, y.b); });
  return result;
}

}  // namespace halo::sinks
