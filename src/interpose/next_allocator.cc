// Resolves the next allocator, and the arena that serves until then.
#include "interpose/next_allocator.h"

#include <atomic>

#include "interpose/listener.h"

namespace halo::interpose {

namespace {

NextFunctions found{};
std::atomic<const NextFunctions*> published{nullptr};
__attribute__((tls_model("initial-exec"))) thread_local bool resolving = false;

const NextFunctions* resolve() {
  if (resolving) return nullptr;
  resolving = true;
  // Threads that race here write the same values.
  look_up_next(found);
  listener.begin();
  published.store(&found, std::memory_order_release);
  resolving = false;
  return &found;
}

// Before the program can start threads.
__attribute__((constructor)) void resolve_early() { next_allocator(); }

}  // namespace

const NextFunctions* next_allocator() {
  const NextFunctions* next = published.load(std::memory_order_acquire);
  return next != nullptr ? next : resolve();
}

}  // namespace halo::interpose
