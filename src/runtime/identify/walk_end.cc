// The ends of stacks that the system allocated: the first thread's, and those of the C library.
#include "runtime/identify/walk_end.h"

#include <cstddef>

namespace halo::runtime {

__thread uintptr_t walk_end __attribute__((tls_model("initial-exec"))) = 0;

namespace {

// The first thread, identified by the address of its descriptor, which a forked child keeps.
constinit uintptr_t main_thread = 0;
constinit uintptr_t main_stack_end = 0;

uintptr_t this_thread() { return reinterpret_cast<uintptr_t>(__builtin_thread_pointer()); }

}  // namespace

Stack thread_stack() {
  constexpr size_t kDescriptorWords = 256;  // of about 290
  constexpr uintptr_t kLargestRest = 64 * 1024;
  const uintptr_t self = this_thread();
  const auto* words = reinterpret_cast<const uintptr_t*>(self);
  for (size_t i = 2; i + 2 < kDescriptorWords; ++i) {
    const uintptr_t block = words[i], size = words[i + 1], guard = words[i + 2];
    if (block == 0 || block >= self || guard >= size || guard % 4096 != 0) continue;
    const uintptr_t end = block + size;
    if (end > self && end - self <= kLargestRest) return {block + guard, self};
  }
  return {0, 0};
}

uintptr_t find_walk_end(const uintptr_t* slot) {
  if (walk_end == 0) {
    const uintptr_t found = this_thread() == main_thread ? main_stack_end : thread_stack().high;
    walk_end = found != 0 ? found : UINTPTR_MAX;
  }
  return reinterpret_cast<uintptr_t>(slot) < walk_end ? walk_end : UINTPTR_MAX;
}

void set_main_stack_end(uintptr_t end) {
  main_thread = this_thread();
  main_stack_end = end;
}

}  // namespace halo::runtime
