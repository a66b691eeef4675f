// What the wrappers tell whoever listens: the recorder (report.cc), or the detector (src/litter).
#pragma once

#include <cstddef>
#include <cstdint>

namespace halo::record::guest {

// Once, before anything is told.
void begin_listening();

// An allocation of `size` bytes at `address`, asked for by the call whose return address lies at
// `slot`. Nothing where the address is null; so in the following.
void report_alloc(void* address, size_t size, uint64_t slot);
// The same, where the request asks for an alignment of its own.
void report_aligned(void* address, size_t size, uint64_t slot);
void report_free(void* address);
// The free just reported did not happen: realloc found no memory.
void report_revive(void* address);

}  // namespace halo::record::guest
