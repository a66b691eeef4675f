// Functions that an old C library does not have, or has in libraries that the program need not have
// loaded (old_symbols.h).
#pragma once

#include <dlfcn.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#ifdef HALO_OLD_SYMBOLS
// Of glibc before 2.34.
extern "C" __attribute__((weak)) void* __libc_dlopen_mode(const char*, int);
extern "C" __attribute__((weak)) void* __libc_dlsym(void*, const char*);
#endif

namespace halo {

// The function of libdl.so.2, which is loaded if the program has not; null without a separate
// libdl.so.2.
inline void* of_libdl([[maybe_unused]] const char* name) {
#ifdef HALO_OLD_SYMBOLS
  constexpr int kByTheLibraryItself = static_cast<int>(0x80000000);
  if (__libc_dlopen_mode != nullptr && __libc_dlsym != nullptr)
    if (void* library = __libc_dlopen_mode("libdl.so.2", RTLD_LAZY | kByTheLibraryItself))
      return __libc_dlsym(library, name);
#endif
  return nullptr;
}

// The function if it is there, or else that of libdl.so.2.
template <typename Function>
Function* or_of_libdl(Function* function, const char* name) {
  return function != nullptr ? function : reinterpret_cast<Function*>(of_libdl(name));
}

// Inlined: RTLD_NEXT counts from the library that calls dlsym.
[[gnu::always_inline]] inline void* find_symbol(void* handle, const char* name) {
  auto* const find = or_of_libdl(&dlsym, "dlsym");
  return find == nullptr ? nullptr : find(handle, name);
}

inline void* find_symbol(void* handle, const char* name, const char* version) {
  auto* const find = or_of_libdl(&dlvsym, "dlvsym");
  return find == nullptr ? nullptr : find(handle, name, version);
}

// dlopen, which libhalo.so itself exports, so that no other library binds it by its version.
inline void* open_library(const char* name, int flags) {
  using Open = void*(const char*, int);
  auto* const first = reinterpret_cast<Open*>(find_symbol(RTLD_DEFAULT, "dlopen"));
  auto* const open = or_of_libdl(first, "dlopen");
  return open == nullptr ? nullptr : open(name, flags);
}

inline bool find_module(const void* address, Dl_info& info) {
  auto* const find = or_of_libdl(&dladdr, "dladdr");
  return find != nullptr && find(address, &info) != 0;
}

inline bool find_module(const void* address, Dl_info& info, void** extra, int kind) {
  auto* const find = or_of_libdl(&dladdr1, "dladdr1");
  return find != nullptr && find(address, &info, extra, kind) != 0;
}

// Without libpthread.so.0 there are no threads that could end.
inline bool make_key(pthread_key_t& key, void (*at_end)(void*)) {
  auto* const make = &pthread_key_create;
#ifdef HALO_OLD_SYMBOLS
  if (make == nullptr || &pthread_setspecific == nullptr || &pthread_key_delete == nullptr)
    return false;
#endif
  return make(&key, at_end) == 0;
}

inline bool run_once(pthread_once_t& once, void (*function)()) {
#ifdef HALO_OLD_SYMBOLS
  if (&pthread_once == nullptr) {
    constexpr pthread_once_t kDone = 2;  // also to a libpthread.so.0 that is loaded later
    if (once != kDone) {
      once = kDone;
      function();
    }
    return true;
  }
#endif
  return pthread_once(&once, function) == 0;
}

inline pid_t thread_id() { return static_cast<pid_t>(syscall(SYS_gettid)); }

// fstat, which glibc before 2.33 does not export; the kernel's structure is the C library's.
inline bool read_status(int file, struct stat& status) {
  return syscall(SYS_fstat, file, &status) == 0;
}

}  // namespace halo
