// Allocations whose caller may be in the plan: identify, then serve from the group or forward.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halo::runtime {

// For blocks that the arena contains.
void free_grouped(void* p);
std::size_t usable_size_grouped(const void* p);

}  // namespace halo::runtime

// Trampolines (entry.cc): entered by a jump from the exported function of the same name, they pass
// on the slot of the program's return address and the caller's rbp.
extern "C" {
void* halo_enter_malloc(std::size_t size);
void* halo_enter_new(std::size_t size);
void* halo_enter_calloc(std::size_t count, std::size_t size);
void* halo_enter_realloc(void* p, std::size_t size);
}
