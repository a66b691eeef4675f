// The listener for the program's allocations.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halo::interpose {

// Each library that interposes malloc defines the one `kListener`: the recorder's guest library,
// the detector of aged heaps, the logging library.
//
// All functions are async-signal-safe; addresses are not null.
struct Listener {
  // Called once, before any other function.
  void (*begin)();
  // An allocation of `size` bytes at `address`. `slot` is the stack slot that holds the return
  // address of the call.
  void (*alloc)(void* address, size_t size, uint64_t slot);
  // Likewise, if the request has an alignment of its own.
  void (*aligned)(void* address, size_t size, uint64_t slot);
  // Likewise, of realloc: the object takes the place of the one that this thread freed last.
  void (*reallocated)(void* address, size_t size, uint64_t slot);
  void (*free)(void* address);
  // Cancels the last free of this thread: realloc found no memory.
  void (*revive)(void* address);
};

// Constant-initialised: the first allocation may come before any constructor.
extern const Listener kListener;

inline void report_alloc(void* address, size_t size, uint64_t slot) {
  if (address != nullptr) kListener.alloc(address, size, slot);
}
inline void report_aligned(void* address, size_t size, uint64_t slot) {
  if (address != nullptr) kListener.aligned(address, size, slot);
}
inline void report_reallocated(void* address, size_t size, uint64_t slot) {
  if (address != nullptr) kListener.reallocated(address, size, slot);
}
inline void report_free(void* address) {
  if (address != nullptr) kListener.free(address);
}
inline void report_revive(void* address) {
  if (address != nullptr) kListener.revive(address);
}

}  // namespace halo::interpose
