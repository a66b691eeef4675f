// The latest object of each call site of one thread.
#pragma once

#include <cstdint>

namespace halo::record {

// The table decides when the recorder reads an object's contents: when its call site allocates
// again, or when its thread frees it. By then the program has usually initialised the object.
//
// If more than kEntries call sites allocate, the oldest entry is replaced. It needs no allocation,
// and is all zeros at first. Invariants: entries from `used_` on are zeros; no two entries have the
// same site, or the same address other than 0.
//
// A signal handler that allocates may interrupt any member. Then an object may be missed, or be
// returned twice.
class RecentObjects {
 public:
  static constexpr uint32_t kEntries = 64;

  struct Object {
    uint64_t address = 0;  // 0: no object
    uint64_t size = 0;
  };

  // `site` allocates an object. Returns the object that it replaces in the table.
  Object allocate(uint64_t site, Object object) {
    remove(object.address);  // another thread has freed an object at this address
    uint32_t at = 0;
    while (at < used_ && sites_[at] != site) ++at;
    if (at == used_) at = take_entry();
    const Object replaced = objects_[at];
    sites_[at] = site;
    objects_[at] = object;
    return replaced;
  }

  // Removes the object at this address and returns it.
  Object remove(uint64_t address) {
    for (uint32_t at = 0; at < used_; ++at) {
      if (objects_[at].address != address) continue;
      const Object removed = objects_[at];
      objects_[at] = {};
      return removed;
    }
    return {};
  }

 private:
  uint32_t take_entry() { return used_ < kEntries ? used_++ : oldest_++ % kEntries; }

  uint64_t sites_[kEntries] = {};
  Object objects_[kEntries] = {};
  uint32_t used_ = 0;
  uint32_t oldest_ = 0;  // number of replaced entries
};

}  // namespace halo::record
