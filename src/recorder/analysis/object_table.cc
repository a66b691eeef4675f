// Allocation and retirement of object records.
#include "recorder/analysis/object_table.h"

namespace halo::sinks {

base::ObjectId ObjectTable::add(uint64_t address, uint32_t size, base::ContextId context) {
  const uint64_t seq = ++last_seq_;
  const uint32_t id = take_id();
  if (id == 0) return base::ObjectId{0};
  ++allocated_;
  if (base::index(context) >= latest_.size()) latest_.resize(base::index(context) + 1);
  Latest& latest = latest_[base::index(context)];
  Object& object = objects_[id];
  object = {.address = address,
            .seq = seq,
            .context = context,
            .gap_prev = latest.id == 0 ? Object::kNone : gap_between(latest.seq, seq),
            .gap_next = Object::kNone,
            .size = size & Object::kMaxSize,
            .freed = 0,
            .queued = 0};
  if (latest.id != 0) {
    objects_[latest.id].gap_next = object.gap_prev;
    retire_if_final(latest.id);
  }
  latest = {seq, id};
  return base::ObjectId{id};
}

void ObjectTable::free(base::ObjectId id) {
  objects_[base::index(id)].freed = 1;
  retire_if_final(base::index(id));
}

void ObjectTable::retire_if_final(uint32_t id) {
  Object& object = objects_[id];
  if (!object.freed || object.queued || object.gap_next == Object::kNone) return;
  object.queued = 1;
  quarantine_.push_back(id);
  ++retired_since_sweep_;
}

bool ObjectTable::take_sweep_due() {
  if (retired_since_sweep_ < kSweepInterval) return false;
  retired_since_sweep_ = 0;
  return true;
}

uint32_t ObjectTable::take_id() {
  constexpr size_t kAhead = 8;
  static_assert(kAhead < kQuarantine);
  while (quarantine_.size() > kQuarantine) {
    const uint32_t id = quarantine_.front();
    quarantine_.pop_front();
    __builtin_prefetch(&objects_[quarantine_[kAhead]]);  // nothing has accessed it for long
    objects_[id].queued = 0;
    if (objects_[id].freed) return id;  // revived meanwhile, so it will be retired again
  }
  return next_unused_ < objects_.size() ? next_unused_++ : 0;
}

}  // namespace halo::sinks
