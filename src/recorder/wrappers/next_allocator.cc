// Resolves the next allocator, and the arena that serves until then.
#include "recorder/wrappers/next_allocator.h"

#include "recorder/wrappers/listener.h"

namespace halo::interpose {

namespace {

NextFunctions found{};
__attribute__((tls_model("initial-exec"))) thread_local bool resolving = false;

// Before the program can start threads.
__attribute__((constructor)) void resolve_early() { next_allocator(); }

}  // namespace

constinit std::atomic<const NextFunctions*> detail::published{nullptr};

const NextFunctions* detail::resolve() {
  if (resolving) return nullptr;
  resolving = true;
  // Threads that race here write the same values.
  look_up_next(found);
  kListener.begin();
  published.store(&found, std::memory_order_release);
  resolving = false;
  return &found;
}

}  // namespace halo::interpose
