#include "runtime/hints/readable.h"

#include <errno.h>
#include <sys/syscall.h>

#include <atomic>

namespace halo::runtime {
namespace {

constexpr unsigned page_shift_of_kernel = 12;
constexpr std::uintptr_t user_end = std::uintptr_t{1} << 47;
constexpr unsigned cached_pages = 4096;
constexpr std::uint32_t max_refusals = 1u << 16;  // each costs a system call

// Numbers of readable pages, each in the place of its low bits; 0: none. Any thread stores whole
// words, and a word is all that a reader uses.
constinit std::atomic<std::uint32_t> cache[cached_pages]{};
static_assert((user_end >> page_shift_of_kernel) / cached_pages < UINT32_MAX);
constinit std::atomic<std::uint32_t> refusals{0};

std::atomic<std::uint32_t>& place_of(std::uintptr_t page) { return cache[page % cached_pages]; }
// What is stored for a page, beside its place.
std::uint32_t mark_of(std::uintptr_t page) {
  return static_cast<std::uint32_t>(page / cached_pages) + 1;
}

// rt_sigprocmask copies the set before it refuses the unknown action, so it changes nothing.
// Sandboxes permit it.
bool ask_kernel(std::uintptr_t page) {
  constexpr long unknown_action = ~0L;
  long result;
  register long set_bytes asm("r10") = 8;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(SYS_rt_sigprocmask), "D"(unknown_action), "S"(page << page_shift_of_kernel),
                 "d"(0), "r"(set_bytes)
               : "rcx", "r11", "memory");
  return result == -EINVAL;
}

bool is_readable_page(std::uintptr_t page) {
  if (place_of(page).load(std::memory_order_relaxed) == mark_of(page)) [[likely]]
    return true;
  if (refusals.load(std::memory_order_relaxed) >= max_refusals) return false;
  if (!ask_kernel(page)) {
    refusals.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  place_of(page).store(mark_of(page), std::memory_order_relaxed);
  return true;
}

}  // namespace

bool is_readable(std::uintptr_t address, unsigned bytes) {
  if (address >= user_end - bytes) return false;
  const std::uintptr_t page = address >> page_shift_of_kernel;
  const std::uintptr_t last = (address + bytes - 1) >> page_shift_of_kernel;
  return is_readable_page(page) && (page == last || is_readable_page(last));
}

}  // namespace halo::runtime
