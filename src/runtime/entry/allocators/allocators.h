// The allocators whose own functions the runtime replaces.
#pragma once

#include "runtime/entry/allocators/interface.h"

namespace halo::runtime {

HALO_HIDDEN extern const AllocatorInterface kJemallocInterface;
HALO_HIDDEN extern const AllocatorInterface kMimallocInterface;
HALO_HIDDEN extern const AllocatorInterface kGperftoolsInterface;

}  // namespace halo::runtime
