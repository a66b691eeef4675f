// The allocator under test as a sequence of operations sees it: the runtime's core, or the public
// interface of malloc.
#pragma once

#include <cstddef>

#include "fuzz/shadow_model.h"

namespace halo::fuzz {

class Allocator {
 public:
  virtual ~Allocator() = default;

  // Contexts that allocations may come from, and the largest size worth asking for.
  virtual unsigned sites() const = 0;
  virtual std::size_t max_size() const = 0;

  // Each may return nullptr: refused.
  virtual void* allocate(unsigned site, std::size_t size) = 0;
  virtual void* allocate_zeroed(unsigned site, std::size_t size) = 0;
  virtual void* allocate_by_new(unsigned site, std::size_t size) = 0;
  virtual void* allocate_aligned(unsigned site, std::size_t alignment, std::size_t size) = 0;
  // Moves the contents; nullptr leaves the block as it was.
  virtual void* reallocate(unsigned site, const Block& block, std::size_t size) = 0;
  // `way` picks one of the functions that may free this block.
  virtual void release(unsigned way, const Block& block) = 0;
  virtual std::size_t usable_size(const void* p) = 0;

  // The largest alignment that allocate_aligned may be asked for.
  virtual std::size_t max_alignment() const = 0;
  // Whether a refusal may happen although no fault was injected.
  virtual bool may_refuse() const = 0;
  // What the allocator knows of its state agrees with the blocks in the model; no operation is
  // under way in any thread.
  virtual void check(const ShadowModel& model) = 0;
};

}  // namespace halo::fuzz
