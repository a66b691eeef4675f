// The fuzzers' interface to the runtime's internals: heaps for some groups, allocation and freeing
// as the entry points do it, and the walk from a return address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "plan/format.h"
#include "runtime/identify/identifier.h"

namespace halo::fuzz {

struct GroupCounts {
  uint64_t allocations;
  uint64_t live_bytes;
};

// Called once per process; `groups` must stay valid. Returns false if memory is refused.
bool open_core(std::span<const plan::Group> groups, uint32_t max_object, size_t reserve);

// nullptr: refused.
void* core_allocate(uint32_t group, size_t size, uint32_t alignment, bool zeroed);

// True if the block belongs to another thread's heap, or to that of all threads.
bool core_deallocate(void* p);

size_t core_size_of(const void* p);

// An error in the placement of a live block, or nullptr.
const char* core_placement_problem(const void* p, size_t bytes);

// The sum over all threads, which must not be running; the live bytes of a group that steps are
// those of all such groups. Reports a finding if a heap is inconsistent.
GroupCounts core_counts(uint32_t group);

// The verdict for the return address at `slot`, as for an allocation there.
runtime::Verdict core_walk(const runtime::Table& table, const uintptr_t* slot, uintptr_t rbp);

}  // namespace halo::fuzz
