// Growth and read-out of the edge table.
#include "sinks/edge_table.h"

#include <algorithm>
#include <tuple>

namespace halo::sinks {

void EdgeTable::insert(uint64_t key, uint64_t weight, EdgePart part) {
  if (++used_ * 2 > slots_.size()) grow();
  size_t at = slot_of(key);
  while (slots_[at].key != 0) at = (at + 1) & (slots_.size() - 1);
  slots_[at].key = key;
  slots_[at].parts[int(part)] = weight;
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
  slots_.assign(kInitialSlots, Slot{});
  used_ = 0;
}

double EdgeTable::relative_error() const {
  uint64_t difference = 0, sum = 0;
  for (const Slot& slot : slots_) {
    const auto [less, more] =
        std::minmax(slot.parts[int(EdgePart::kOdd)], slot.parts[int(EdgePart::kEven)]);
    difference += more - less;
    sum += slot.parts[int(EdgePart::kExact)] + more + less;
  }
  return sum == 0 ? 0 : double(difference) / double(sum);
}

std::vector<Edge> EdgeTable::edges() const {
  std::vector<Edge> result;
  for (const Slot& slot : slots_) {
    if (slot.key == 0) continue;
    const uint64_t pair = slot.key - 1;
    result.push_back({base::ContextId{uint32_t(pair >> 32)}, base::ContextId{uint32_t(pair)},
                      slot.parts[0] + slot.parts[1] + slot.parts[2]});
  }
  std::sort(result.begin(), result.end(),
            [](const Edge& x, const Edge& y) { return std::tie(x.a, x.b) < std::tie(y.a, y.b); });
  return result;
}

}  // namespace halo::sinks
