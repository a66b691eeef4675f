// The allocator that the interposed functions forward to.
#pragma once

#include <atomic>

#include "base/bootstrap.h"
#include "base/next_functions.h"

namespace halo::interpose {

namespace detail {

extern std::atomic<const NextFunctions*> published;  // null before resolve()
const NextFunctions* resolve();

}  // namespace detail

// Null only while this thread resolves it (dlsym may allocate): the caller then uses the bootstrap
// arena.
inline const NextFunctions* next_allocator() {
  const NextFunctions* next = detail::published.load(std::memory_order_acquire);
  return next != nullptr ? next : detail::resolve();
}

}  // namespace halo::interpose
