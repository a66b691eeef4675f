// The public interface as an allocator, as a program sees it with the runtime preloaded.
#pragma once

#include "fuzz/allocator.h"

namespace halo::fuzz {

class MallocAllocator : public Allocator {
 public:
  // Reports a finding if HALO_PLAN is set and no allocation is grouped.
  MallocAllocator();

  unsigned sites() const override;
  // Beyond the plan's largest object, so that some are forwarded.
  size_t max_size() const override { return 6000; }
  size_t max_alignment() const override { return 4096; }
  bool may_refuse() const override { return false; }

  void* allocate(unsigned site, size_t size) override;
  void* allocate_zeroed(unsigned site, size_t size) override;
  void* allocate_by_new(unsigned site, size_t size) override;
  void* allocate_aligned(unsigned site, size_t alignment, size_t size) override;
  void* reallocate(unsigned site, const Block& block, size_t size) override;
  void release(unsigned way, const Block& block) override;
  size_t usable_size(const void* p) override;
  void check(const ShadowModel& model) override;

 private:
  void (*free_sized_)(void*, size_t);  // null if the C library lacks it
};

}  // namespace halo::fuzz
