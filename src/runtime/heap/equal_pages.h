// Single-size pages.
#pragma once

#include "runtime/heap/free_list.h"

namespace halo::runtime {

// One page of each size class serves blocks that were never used, in runs of up to 4 KiB. Blocks
// that a full list returns are linked in their page. A page without used blocks is released, unless
// it serves. (Leijen, Zorn and de Moura, "Mimalloc: Free List Sharding in Action", section 2, but
// behind lists of each class.)
//
// A single-size page is in the queue of its class if it has returned blocks, or room and does not
// serve.

}  // namespace halo::runtime
