// One recorded thread's side: turns its accesses and reports into records in its ring.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "base/ids.h"
#include "record/context_table.h"
#include "record/shadow_stack.h"
#include "sinks/mapped_array.h"
#include "trace/epoch_merge.h"
#include "trace/ring.h"

namespace halo::record {

// What all producers share.
struct ProducerShared {
  static constexpr int kRegionShift = 20;
  static constexpr uint64_t kRegions = 1ULL << (47 - kRegionShift);

  alignas(64) std::atomic<uint64_t> epoch{1};
  // Which MiB of the address space have ever held a tracked object: all else is dropped at once.
  sinks::MappedArray<uint8_t> heap_regions{kRegions, kRegions};
  uint64_t max_object_size = 4096;
  bool merge_repeats = true;
  bool all_accesses = false;  // not only those that may be to objects; a store is no repeated load
  std::function<void()> on_ring_full;  // makes sure that someone consumes

  void mark_heap(uint64_t address, uint64_t size);
  // Whether the sinks want to see accesses there.
  bool wants(uint64_t address) const {
    return all_accesses || heap_regions[(address >> kRegionShift) & (kRegions - 1)] != 0;
  }
};

class Producer {
 public:
  static constexpr size_t kRingCapacity = 1 << 16;

  Producer(base::ThreadId id, ProducerShared& shared, ContextTable& contexts,
           ShadowStack::FindMapping find_stack = find_own_mapping);

  // The address may be an object's.
  void access(uint64_t address, uint32_t size_log2, bool store, uint32_t alignment_class,
              uint64_t code) {
    const uint64_t epoch = shared_.epoch.load(std::memory_order_relaxed);
    const uint64_t granule = address >> 4 | (store ? store_mark_ : 0);
    // A further access to 16 bytes that belong to one object tells the sinks nothing new.
    if (granule == last_granule_ && epoch == epoch_ && alignment_class == 0 &&
        repeats_ < max_repeats_) {
      ++repeats_;
      return;
    }
    reserve(2);
    if (epoch != epoch_) see_epoch(epoch);
    put_with_repeats(trace::Record::access(address, size_log2, store, alignment_class, code));
    ring_.publish();
    last_granule_ = granule;
  }

  ShadowStack& stack() { return stack_; }

  // `slot` is where the return address of the call into the wrapper lies.
  void alloc(uint64_t address, uint64_t size, uint64_t slot);
  void free(uint64_t address) { report(trace::Kind::kFree, address); }
  void revive(uint64_t address) { report(trace::Kind::kRevive, address); }
  void huge_pages(uint64_t address, uint64_t bytes) {
    report(trace::Kind::kHugePages, address, bytes);
  }
  void burst(uint64_t weight) { report(trace::Kind::kBurst, 0, weight); }
  void end() { report(trace::Kind::kThreadEnd, 0); }
  // Hands over what is still held back.
  void flush() { report(trace::Kind::kFlush, 0); }

  base::ThreadId id() const { return id_; }
  trace::MergeSource& source() { return source_; }
  // Set by the thread when it has put its last record.
  std::atomic<bool> ended{false};

  // For a new thread, with everything consumed.
  void reuse();

 private:
  void reserve(size_t count) {
    if (!ring_.has_room(count)) [[unlikely]]
      wait_for_room(count);
  }
  void wait_for_room(size_t count);
  void see_epoch(uint64_t epoch) {
    ring_.put(trace::Record::make(trace::Kind::kEpoch, 0, trace::observer_key(epoch)));
    epoch_ = epoch;
  }
  void put_with_repeats(trace::Record record) {
    ring_.put(record.with_repeats(repeats_));
    repeats_ = 0;
  }
  void own_epoch();
  void report(trace::Kind kind, uint64_t address, uint64_t word1 = 0);

  const base::ThreadId id_;
  ProducerShared& shared_;
  trace::Ring ring_{kRingCapacity};
  uint64_t epoch_ = 0;
  uint64_t last_granule_ = 0;
  uint32_t repeats_ = 0;
  const uint32_t max_repeats_;
  const uint64_t store_mark_;  // tells the granule of a store from that of a load, or 0
  const ShadowStack::FindMapping find_stack_;
  ShadowStack stack_;
  ContextResolver resolver_;
  trace::MergeSource source_;  // the consumer's
};

}  // namespace halo::record
