// Removal and growth of the digram table.
#include "sinks/streams/digram_table.h"

namespace halo::sinks {

void DigramTable::remove(uint32_t hash, uint32_t symbol) {
  const size_t mask = slots_.size() - 1;
  size_t hole = hash & mask;
  while (slots_[hole].symbol != symbol) {
    if (slots_[hole].symbol == 0) return;
    hole = (hole + 1) & mask;
  }
  // What lies behind moves up, unless that would be in front of its home.
  for (size_t at = (hole + 1) & mask; slots_[at].symbol != 0; at = (at + 1) & mask) {
    const size_t home = slots_[at].hash & mask;
    if (((at - home) & mask) < ((at - hole) & mask)) continue;
    slots_[hole] = slots_[at];
    hole = at;
  }
  slots_[hole] = {};
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
