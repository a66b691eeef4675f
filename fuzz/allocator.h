// The allocator under test for sequences of operations: the runtime's core, or the public interface
// of malloc.
#pragma once

#include <cstddef>

#include "fuzz/shadow_model.h"

namespace halo::fuzz {

class Allocator {
 public:
  virtual ~Allocator() = default;

  // The number of contexts of allocations, and the largest useful size.
  virtual unsigned sites() const = 0;
  virtual size_t max_size() const = 0;

  // Each may return nullptr: refused.
  virtual void* allocate(unsigned site, size_t size) = 0;
  virtual void* allocate_zeroed(unsigned site, size_t size) = 0;
  virtual void* allocate_by_new(unsigned site, size_t size) = 0;
  virtual void* allocate_aligned(unsigned site, size_t alignment, size_t size) = 0;
  // Moves the contents; nullptr leaves the block unchanged.
  virtual void* reallocate(unsigned site, const Block& block, size_t size) = 0;
  // `way` selects one of the functions that may free this block.
  virtual void release(unsigned way, const Block& block) = 0;
  virtual size_t usable_size(const void* p) = 0;

  // The maximum alignment for allocate_aligned.
  virtual size_t max_alignment() const = 0;
  // Whether a refusal may happen without an injected fault.
  virtual bool may_refuse() const = 0;
  // Checks the allocator's own counts against the model; no thread may run an operation.
  virtual void check(const ShadowModel& model) = 0;
};

}  // namespace halo::fuzz
