// Whether the process has only one thread.
#pragma once

#include <sys/single_threaded.h>

#include "base/old_c_library.h"

namespace halo {

// glibc's flag, which it has since 2.32.
#ifdef HALO_OLD_SYMBOLS
inline constinit const char* single_threaded = nullptr;
#else
inline constinit const char* single_threaded = &__libc_single_threaded;
#endif

// Before the first use of the flag.
inline void find_single_threaded() {
  static constexpr char kNever = 0;
  if (single_threaded != nullptr) return;
  const void* found = find_symbol(RTLD_DEFAULT, "__libc_single_threaded");
  single_threaded = found != nullptr ? static_cast<const char*>(found) : &kNever;
}

inline bool is_single_threaded() { return *single_threaded != 0; }

}  // namespace halo
