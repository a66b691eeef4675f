// Growth and read-out of the edge table.
#include "sinks/edge_table.h"

#include <algorithm>
#include <tuple>

namespace halo::sinks {

void EdgeTable::insert(uint64_t key) {
  if (++used_ * 2 > slots_.size()) grow();
  size_t at = slot_of(key);
  while (slots_[at].key != 0) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = {key, 1};
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

std::vector<Edge> EdgeTable::edges() const {
  std::vector<Edge> result;
  for (const Slot& slot : slots_) {
    if (slot.key == 0) continue;
    const uint64_t pair = slot.key - 1;
    result.push_back(
        {base::ContextId{uint32_t(pair >> 32)}, base::ContextId{uint32_t(pair)}, slot.count});
  }
  std::sort(result.begin(), result.end(),
            [](const Edge& x, const Edge& y) { return std::tie(x.a, x.b) < std::tie(y.a, y.b); });
  return result;
}

}  // namespace halo::sinks
