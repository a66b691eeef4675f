// What libhalo.so exports to the libraries that age a heap, so that these know and make the state
// that its groups are in after a long time.
#pragma once

#include <cstddef>
#include <cstdint>

#define HALO_ABI __attribute__((visibility("default")))

extern "C" {

// How many groups the plan has that serves this process; 0: none does.
HALO_ABI uint32_t halo_group_count();

// A block for `size` bytes of that group, as for an object that needs no alignment of its own; to
// be freed by free. nullptr if the group would not serve it.
HALO_ABI void* halo_allocate_in_group(uint32_t group, size_t size);

// The group that would serve a request for `size` bytes by the call whose return address lies at
// `slot`, the caller's rbp being `rbp`; -1: it would be forwarded.
HALO_ABI int32_t halo_group_of_request(size_t size, const uintptr_t* slot, uintptr_t rbp);
}

#undef HALO_ABI
