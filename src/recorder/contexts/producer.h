// The producer of one recorded thread: converts its accesses and reports to records in its ring.
#pragma once

#include <cstdint>
#include <functional>

#include "base/ids.h"
#include "base/mapped_array.h"
#include "recorder/contexts/context_table.h"
#include "recorder/contexts/shadow_stack.h"
#include "recorder/events/epoch_merge.h"
#include "recorder/events/ring.h"

namespace halo::record {

// The state that all producers share.
struct ProducerShared {
  static constexpr int kRegionShift = 20;
  static constexpr uint64_t kRegions = 1ULL << (47 - kRegionShift);

  uint64_t epoch = 1;
  // The MiB of the address space that have ever contained a tracked object; accesses to others are
  // dropped immediately.
  base::MappedArray<uint8_t> heap_regions{kRegions, kRegions};
  uint64_t max_object_size = 4096;
  bool merge_repeats = true;
  bool all_accesses = false;  // not only those to potential objects; a store then does not repeat a
                              // load
  std::function<void()> on_ring_full;  // consumes the records of the producer that is in use

  void mark_heap(uint64_t address, uint64_t size);
  // Whether the sinks need accesses to that address.
  bool wants(uint64_t address) const {
    return all_accesses || heap_regions[(address >> kRegionShift) & (kRegions - 1)] != 0;
  }
};

class Producer {
 public:
  static constexpr size_t kRingCapacity = 1 << 16;

  Producer(base::ThreadId id, ProducerShared& shared, ContextTable& contexts,
           ShadowStack::FindMapping find_stack);

  // Called if the address may be an object's.
  void access(uint64_t address, uint32_t size_log2, bool store, uint32_t alignment_class,
              uint64_t code) {
    const uint64_t epoch = shared_.epoch;
    const uint64_t granule = address >> 4 | (store ? store_mark_ : 0);
    // A further access to 16 bytes of one object carries no new information for the sinks.
    if (granule == last_granule_ && epoch == epoch_ && alignment_class == 0 &&
        repeats_ < max_repeats_) {
      ++repeats_;
      return;
    }
    reserve(2);
    if (epoch != epoch_) see_epoch(epoch);
    put_with_repeats(events::Record::access(address, size_log2, store, alignment_class, code));
    ring_.publish();
    last_granule_ = granule;
  }

  ShadowStack& stack() { return stack_; }

  // `slot` is the slot of the return address of the call into the wrapper.
  void alloc(uint64_t address, uint64_t size, uint64_t slot);
  void free(uint64_t address) { report(events::Kind::kFree, address); }
  void revive(uint64_t address) { report(events::Kind::kRevive, address); }
  // The request of the allocation at this address had an alignment of its own.
  void aligned(uint64_t address) { report(events::Kind::kAligned, address); }
  // The allocation at this address replaces the last object that this thread freed.
  void reallocated(uint64_t address) { report(events::Kind::kReallocated, address); }
  void huge_pages(uint64_t address, uint64_t bytes) {
    report(events::Kind::kHugePages, address, bytes);
  }
  // The thread enters or leaves the function that is a phase.
  void phase(bool enters) { report(events::Kind::kPhase, 0, enters ? 1 : 0); }
  void burst(uint64_t weight) { report(events::Kind::kBurst, 0, weight); }
  void end() { report(events::Kind::kThreadEnd, 0); }
  // Publishes pending repeats.
  void flush() { report(events::Kind::kFlush, 0); }

  base::ThreadId id() const { return id_; }
  events::MergeSource& source() { return source_; }

  // Reuses it for a new thread; all of its records must be consumed.
  void reuse();

 private:
  void reserve(size_t count) {
    if (!ring_.has_room(count)) [[unlikely]]
      shared_.on_ring_full();
  }
  void see_epoch(uint64_t epoch) {
    ring_.put(events::Record::make(events::Kind::kEpoch, 0, events::observer_key(epoch)));
    epoch_ = epoch;
  }
  void put_with_repeats(events::Record record) {
    ring_.put(record.with_repeats(repeats_));
    repeats_ = 0;
  }
  void own_epoch();
  void report(events::Kind kind, uint64_t address, uint64_t word1 = 0);

  const base::ThreadId id_;
  ProducerShared& shared_;
  events::Ring ring_{kRingCapacity};
  uint64_t epoch_ = 0;
  uint64_t last_granule_ = 0;
  uint32_t repeats_ = 0;
  const uint32_t max_repeats_;
  const uint64_t store_mark_;  // distinguishes the granule of a store from that of a load, or 0
  const ShadowStack::FindMapping find_stack_;
  ShadowStack stack_;
  ContextResolver resolver_;
  events::MergeSource source_;  // the consumer's state
};

}  // namespace halo::record
