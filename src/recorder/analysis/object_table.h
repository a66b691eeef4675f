// All tracked objects: their records, their order within their context, and the reuse of ids.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/mapped_array.h"
#include "recorder/analysis/event.h"

namespace halo::sinks {

// One thread at a time uses it, the one that runs the analysis. References to records stay valid,
// since records never move; a record's contents change when its id is reused.
//
// An id is reused only if three conditions hold. Its object is freed. Its successor in the same
// context is known, so the record is final. And kQuarantine other ids have been retired since; in
// that time, at least two calls of take_sweep_due() return true. A sink that updates its data at
// each sweep (ReuseEvent) therefore never confuses two objects of one id.
class ObjectTable {
 public:
  static constexpr size_t kQuarantine = 65536;
  static constexpr size_t kSweepInterval = kQuarantine / 4;

  // Returns id 0 if the table is full.
  base::ObjectId add(uint64_t address, uint32_t size, base::ContextId context);
  // Numbers an allocation that is not tracked.
  void skip() { ++last_seq_; }
  void free(base::ObjectId id);
  void revive(base::ObjectId id) { objects_[base::index(id)].freed = 0; }

  const Object& operator[](base::ObjectId id) const { return objects_[base::index(id)]; }

  // True once every kSweepInterval retired ids.
  bool take_sweep_due();

  uint64_t allocated() const { return allocated_; }  // tracked objects
  uint64_t records_used() const { return next_unused_; }

 private:
  struct Latest {
    uint64_t seq = 0;
    uint32_t id = 0;
  };

  uint32_t take_id();
  void retire_if_final(uint32_t id);

  base::MappedArray<Object> objects_{1ULL << 30, 1ULL << 16};
  uint32_t next_unused_ = 1;
  uint64_t last_seq_ = 0;
  uint64_t allocated_ = 0;
  std::vector<Latest> latest_;  // by context
  std::deque<uint32_t> quarantine_;
  size_t retired_since_sweep_ = 0;
};

}  // namespace halo::sinks
