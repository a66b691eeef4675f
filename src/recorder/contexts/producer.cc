// The slow paths of a producer.
#include "recorder/contexts/producer.h"

namespace halo::record {

void ProducerShared::mark_heap(uint64_t address, uint64_t size) {
  const uint64_t last = (address + size) >> kRegionShift;
  for (uint64_t at = address >> kRegionShift; at <= last && at < kRegions; ++at) {
    if (heap_regions[at] == 0) heap_regions[at] = 1;
  }
}

Producer::Producer(base::ThreadId id, ProducerShared& shared, ContextTable& contexts,
                   ShadowStack::FindMapping find_stack)
    : id_(id),
      shared_(shared),
      max_repeats_(shared.merge_repeats ? events::Record::kMaxRepeats : 0),
      store_mark_(shared_.all_accesses ? 1ULL << 63 : 0),
      find_stack_(std::move(find_stack)),
      stack_(find_stack_),
      resolver_(contexts) {
  source_.thread = id;
  source_.ring = &ring_;
}

void Producer::reuse() {
  epoch_ = 0;
  last_granule_ = 0;
  repeats_ = 0;
  stack_ = ShadowStack(find_stack_);
}

void Producer::own_epoch() {
  epoch_ = ++shared_.epoch;
  ring_.put(events::Record::make(events::Kind::kEpoch, 0, events::owner_key(epoch_)));
  last_granule_ = 0;
}

void Producer::alloc(uint64_t address, uint64_t size, uint64_t slot) {
  const base::NodeId node = resolver_.resolve(stack_.frames(), slot);
  if (size <= shared_.max_object_size) shared_.mark_heap(address, size);
  reserve(3);
  own_epoch();
  put_with_repeats(events::Record::make(events::Kind::kAlloc, address, size));
  ring_.put(events::Record::make(events::Kind::kContext, 0, base::index(node)));
  ring_.publish();
}

void Producer::report(events::Kind kind, uint64_t address, uint64_t word1) {
  reserve(2);
  own_epoch();
  put_with_repeats(events::Record::make(kind, address, word1));
  ring_.publish();
}

}  // namespace halo::record
