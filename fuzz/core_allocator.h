// The runtime's core as an allocator, with a tally to compare with the core's counts.
#pragma once

#include <atomic>
#include <cstdint>

#include "fuzz/allocator.h"
#include "fuzz/core.h"

namespace halo::fuzz {

class CoreAllocator : public Allocator {
 public:
  // Opens the core at the first use in this process. `small`: with few addresses, so that they run
  // out.
  explicit CoreAllocator(bool small);

  unsigned sites() const override;
  size_t max_size() const override;
  size_t max_alignment() const override { return 16; }
  bool may_refuse() const override { return may_refuse_; }

  void* allocate(unsigned site, size_t size) override { return get(site, size, 0, false); }
  void* allocate_zeroed(unsigned site, size_t size) override { return get(site, size, 0, true); }
  void* allocate_by_new(unsigned site, size_t size) override { return get(site, size, 0, false); }
  void* allocate_aligned(unsigned site, size_t alignment, size_t size) override {
    return get(site, size, static_cast<uint32_t>(alignment), false);
  }
  void* reallocate(unsigned site, const Block& block, size_t size) override;
  void release(unsigned way, const Block& block) override;
  size_t usable_size(const void* p) override;
  void check(const ShadowModel& model) override;

 private:
  // Of one group; bytes are block sizes, as the core counts them.
  struct Tally {
    std::atomic<uint64_t> allocations;
    std::atomic<uint64_t> live_bytes;
    std::atomic<uint64_t> remote_bytes;  // freed by another thread, so perhaps not collected
                                         // yet
  };
  static constexpr unsigned kGroups = 9;

  void* get(unsigned site, size_t size, uint32_t alignment, bool zeroed);

  bool may_refuse_;  // few addresses, or an earlier sequence may have used them up
  static Tally tallies_[kGroups];
};

}  // namespace halo::fuzz
