// Removal from and growth of the digram table.
#include "recorder/analysis/streams/digram_table.h"

namespace halo::sinks {

void DigramTable::remove(uint32_t hash, uint32_t symbol) {
  const size_t mask = slots_.size() - 1;
  size_t gap = hash & mask;
  while (slots_[gap].symbol != symbol) {
    if (slots_[gap].symbol == 0) return;
    gap = (gap + 1) & mask;
  }
  // Later entries move up, unless that would put them before their first slot.
  for (size_t at = (gap + 1) & mask; slots_[at].symbol != 0; at = (at + 1) & mask) {
    const size_t home = slots_[at].hash & mask;
    if (((at - home) & mask) < ((at - gap) & mask)) continue;
    slots_[gap] = slots_[at];
    gap = at;
  }
  slots_[gap] = {};
  --used_;
}

void DigramTable::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  const size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.symbol == 0) continue;
    size_t at = slot.hash & mask;
    while (slots_[at].symbol != 0) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

}  // namespace halo::sinks
