#include "runtime/hints/readable.h"

#include <errno.h>
#include <sys/syscall.h>

namespace halo::runtime {
namespace {

constexpr std::uint32_t max_questions = 1u << 19;

constinit std::atomic<std::uint32_t> questions{0};

// rt_sigprocmask copies the set before it refuses the unknown action, so it changes nothing.
// Most sandboxes permit it.
bool ask_kernel(std::uintptr_t page) {
  constexpr long unknown_action = ~0L;
  long result;
  register long set_bytes asm("r10") = 8;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(SYS_rt_sigprocmask), "D"(unknown_action), "S"(page << kernel_page_shift),
                 "d"(0), "r"(set_bytes)
               : "rcx", "r11", "memory");
  return result == -EINVAL;
}

bool is_readable_page(std::uintptr_t page) {
  std::atomic<std::uint32_t>& place = readable_pages[page % cached_readable_pages];
  const auto mark = static_cast<std::uint32_t>(page / cached_readable_pages + 1);
  if (place.load(std::memory_order_relaxed) == mark) return true;
  if (questions.load(std::memory_order_relaxed) >= max_questions) return false;
  questions.fetch_add(1, std::memory_order_relaxed);
  if (!ask_kernel(page)) return false;
  place.store(mark, std::memory_order_relaxed);
  return true;
}

}  // namespace

alignas(
    kernel_page_bytes) constinit std::atomic<std::uint32_t> readable_pages[cached_readable_pages]{};

bool ask_if_readable(std::uintptr_t address, unsigned bytes) {
  const std::uintptr_t page = address >> kernel_page_shift;
  const std::uintptr_t last = (address + bytes - 1) >> kernel_page_shift;
  return is_readable_page(page) && (page == last || is_readable_page(last));
}

}  // namespace halo::runtime
