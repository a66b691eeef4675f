// The allocators whose own functions the runtime replaces.
#pragma once

#include "runtime/entry/allocators/interface.h"

namespace halo::runtime {

HALO_HIDDEN extern const AllocatorInterface jemalloc_interface;
HALO_HIDDEN extern const AllocatorInterface mimalloc_interface;
HALO_HIDDEN extern const AllocatorInterface gperftools_interface;

}  // namespace halo::runtime
