// All that the fuzzers know of the runtime's insides: heaps opened for some groups, blocks
// allocated and freed as the entry points do it, and the walk from a return address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "plan/format.h"
#include "runtime/identifier.h"

namespace halo::fuzz {

struct GroupCounts {
  std::uint64_t allocations;
  std::uint64_t live_bytes;
};

// Once a process; `groups` stay where they are. False where memory is refused.
bool open_core(std::span<const plan::Group> groups, std::uint32_t max_object, std::size_t reserve);

// nullptr: refused.
void* core_allocate(std::uint32_t group, std::size_t size, std::uint32_t alignment, bool zeroed);

// True where the block belongs to another thread's heap.
bool core_deallocate(void* p);

std::size_t core_size_of(const void* p);

// What is wrong with where a live block lies, or nullptr.
const char* core_placement_problem(const void* p, std::size_t bytes);

// Over all threads; none of them is at work. Reports a finding where a heap contradicts itself.
GroupCounts core_counts(std::uint32_t group);

// The verdict for the return address at `slot`, as an allocation from there gets it.
runtime::Verdict core_walk(const runtime::Table& table, const std::uintptr_t* slot,
                           std::uintptr_t rbp);

}  // namespace halo::fuzz
