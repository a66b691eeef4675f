// The public interface as an allocator: with the runtime preloaded, what a program sees of it.
#pragma once

#include "fuzz/allocator.h"

namespace halo::fuzz {

class MallocAllocator : public Allocator {
 public:
  // Reports a finding where HALO_PLAN is set and nothing is grouped all the same.
  MallocAllocator();

  unsigned sites() const override;
  // Past the plan's largest object, so that some are forwarded.
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
  void (*free_sized_)(void*, std::size_t);  // null where the C library has none
};

}  // namespace halo::fuzz
