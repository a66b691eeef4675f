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
  std::size_t max_size() const override { return 6000; }
  std::size_t max_alignment() const override { return 4096; }
  bool may_refuse() const override { return false; }

  void* allocate(unsigned site, std::size_t size) override;
  void* allocate_zeroed(unsigned site, std::size_t size) override;
  void* allocate_by_new(unsigned site, std::size_t size) override;
  void* allocate_aligned(unsigned site, std::size_t alignment, std::size_t size) override;
  void* reallocate(unsigned site, const Block& block, std::size_t size) override;
  void release(unsigned way, const Block& block) override;
  std::size_t usable_size(const void* p) override;
  void check(const ShadowModel& model) override;

 private:
  void (*free_sized_)(void*, std::size_t);  // null if the C library lacks it
};

}  // namespace halo::fuzz
