// Whether memory can be read, without a signal if it cannot.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/base/exported.h"

namespace halo::runtime {

inline constexpr unsigned kernel_page_shift = 12;
inline constexpr std::uintptr_t kernel_page_bytes = std::uintptr_t{1} << kernel_page_shift;
inline constexpr unsigned cached_readable_pages = 65536;
inline constexpr std::uintptr_t readable_end = std::uintptr_t{1} << 47;
static_assert((readable_end >> kernel_page_shift) / cached_readable_pages < UINT32_MAX);

// Readable pages, each in the place of its number's low bits: the other bits plus one; 0: none. Any
// thread stores whole words, and a word is all that a reader uses.
alignas(kernel_page_bytes) HALO_HIDDEN
    extern constinit std::atomic<std::uint32_t> readable_pages[cached_readable_pages];

// Asks the kernel about the pages that are not in the cache, unless it was asked too often: a rule
// that reads from more pages than the cache has would cost a system call at each allocation.
bool ask_if_readable(std::uintptr_t address, unsigned bytes);

// Whether the bytes are in one page, and that is in the cache.
inline bool is_known_readable(std::uintptr_t address, unsigned bytes) {
  const std::uintptr_t page = address >> kernel_page_shift;
  const bool is_known = readable_pages[page % cached_readable_pages].load(
                            std::memory_order_relaxed) == page / cached_readable_pages + 1;
  return is_known && (address + bytes - 1) >> kernel_page_shift == page;
}

// Whether the kernel could read the pages of these 1 to 8 bytes when it was last asked. The answer
// "yes" is kept while the page is in the cache.
//
// A page that was unmapped or protected since still counts as readable. A plan's rules read only
// what the program reads right behind the call. So a plan that is right faults only where the
// program would fault next.
inline bool is_readable(std::uintptr_t address, unsigned bytes) {
  if (address >= readable_end - bytes) return false;
  return is_known_readable(address, bytes) || ask_if_readable(address, bytes);
}

}  // namespace halo::runtime
