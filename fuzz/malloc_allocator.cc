// Every function of the interface that allocates or frees.
#include "fuzz/malloc_allocator.h"

#include <dlfcn.h>
#include <malloc.h>

#include <cstdlib>
#include <new>

#include "fuzz/call_sites.h"
#include "fuzz/finding.h"

namespace halo::fuzz {

MallocAllocator::MallocAllocator()
    : free_sized_(reinterpret_cast<void (*)(void*, size_t)>(dlsym(RTLD_DEFAULT, "free_sized"))) {
  if (std::getenv("HALO_PLAN") == nullptr) return;
  // The C library's smallest block has room for 24 bytes.
  for (const CallSite& site : kCallSites) {
    void* p = site.malloc(8);
    require(malloc_usable_size(p) == 8, "a planned call site's block is in no group");
    std::free(p);
  }
}

unsigned MallocAllocator::sites() const { return kCallSiteCount; }

void* MallocAllocator::allocate(unsigned site, size_t size) {
  return kCallSites[site].malloc(size);
}

void* MallocAllocator::allocate_zeroed(unsigned site, size_t size) {
  return kCallSites[site].calloc(size);
}

void* MallocAllocator::allocate_by_new(unsigned site, size_t size) {
  return kCallSites[site].make(size);
}

void* MallocAllocator::allocate_aligned(unsigned site, size_t alignment, size_t size) {
  void* p = nullptr;
  switch (site % 3) {
    case 0:
      return posix_memalign(&p, alignment, size) == 0 ? p : nullptr;
    case 1:
      return aligned_alloc(alignment, size);
    default:
      return memalign(alignment, size);
  }
}

void* MallocAllocator::reallocate(unsigned site, const Block& block, size_t size) {
  return kCallSites[site].realloc(block.at, size);
}

void MallocAllocator::release(unsigned way, const Block& block) {
  if (block.from_new) {
    if (way % 2 == 0)
      ::operator delete(block.at);
    else
      ::operator delete(block.at, block.requested);
  } else if (way % 2 == 0 || free_sized_ == nullptr) {
    std::free(block.at);
  } else {
    free_sized_(block.at, block.requested);
  }
}

size_t MallocAllocator::usable_size(const void* p) {
  return malloc_usable_size(const_cast<void*>(p));
}

void MallocAllocator::check(const ShadowModel& model) {
  for (size_t i = 0; i < model.size(); ++i)
    require(usable_size(model[i].at) == model[i].usable, "a block's size changed");
}

}  // namespace halo::fuzz
