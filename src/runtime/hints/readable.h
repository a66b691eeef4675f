// Whether memory can be read, without a signal if it cannot.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/base/exported.h"

namespace halo::runtime {

inline constexpr unsigned kernel_page_shift = 12;
inline constexpr unsigned cached_readable_pages = 4096;
inline constexpr std::uintptr_t readable_end = std::uintptr_t{1} << 47;
static_assert((readable_end >> kernel_page_shift) / cached_readable_pages < UINT32_MAX);

// Readable pages, each in the place of its number's low bits: the other bits plus one; 0: none. Any
// thread stores whole words, and a word is all that a reader uses.
HALO_HIDDEN extern constinit std::atomic<std::uint32_t> readable_pages[cached_readable_pages];

// Asks the kernel about the pages that are not in the cache.
bool ask_if_readable(std::uintptr_t address, unsigned bytes);

// Whether the kernel could read the pages of these 1 to 8 bytes when it was last asked. It is asked
// once for each page; the answer "yes" is kept while the page is in the cache.
//
// A page that was unmapped since still counts as readable. A plan's rules read only what the
// program reads right behind the call, so this matters to plans that are wrong, and only if they
// lead to memory that was unmapped.
inline bool is_readable(std::uintptr_t address, unsigned bytes) {
  if (address >= readable_end - bytes) return false;
  const std::uintptr_t page = address >> kernel_page_shift;
  const bool is_known = readable_pages[page % cached_readable_pages].load(
                            std::memory_order_relaxed) == page / cached_readable_pages + 1;
  const bool is_inside = (address + bytes - 1) >> kernel_page_shift == page;
  return (is_known && is_inside) || ask_if_readable(address, bytes);
}

}  // namespace halo::runtime
