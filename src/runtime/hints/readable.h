// Whether memory can be read, without a signal if it cannot.
#pragma once

#include <cstdint>

namespace halo::runtime {

// Whether the kernel could read the pages of these 1 to 8 bytes when it was last asked. It is asked
// once for each page; the answer "yes" is kept while the page is in the cache.
//
// A page that was unmapped since still counts as readable. A plan's rules read only what the
// program reads right behind the call, so this matters to plans that are wrong, and only if they
// lead to memory that was unmapped.
bool is_readable(std::uintptr_t address, unsigned bytes);

}  // namespace halo::runtime
