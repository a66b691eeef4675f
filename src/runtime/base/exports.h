// The functions of the program's libraries that the runtime takes the place of, in the order of
// their symbols: X(symbol, declaration). A definition is exported because it is declared by a list.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <new>

#include "runtime/base/exported.h"

// malloc.h and stdio.h declare other functions, too.
struct HaloMallinfo;
struct HaloMallinfo2;
struct _IO_FILE;

// clang-format off
#define HALO_EXPORTED_OPERATORS(X) \
  X(_ZdaPv, void operator delete[](void* p) noexcept) \
  X(_ZdaPvRKSt9nothrow_t, void operator delete[](void* p, const std::nothrow_t&) noexcept) \
  X(_ZdaPvSt11align_val_t, void operator delete[](void* p, std::align_val_t) noexcept) \
  X(_ZdaPvSt11align_val_tRKSt9nothrow_t, \
    void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept) \
  X(_ZdaPvm, void operator delete[](void* p, size_t) noexcept) \
  X(_ZdaPvmSt11align_val_t, void operator delete[](void* p, size_t, std::align_val_t) noexcept) \
  X(_ZdlPv, void operator delete(void* p) noexcept) \
  X(_ZdlPvRKSt9nothrow_t, void operator delete(void* p, const std::nothrow_t&) noexcept) \
  X(_ZdlPvSt11align_val_t, void operator delete(void* p, std::align_val_t) noexcept) \
  X(_ZdlPvSt11align_val_tRKSt9nothrow_t, \
    void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept) \
  X(_ZdlPvm, void operator delete(void* p, size_t) noexcept) \
  X(_ZdlPvmSt11align_val_t, void operator delete(void* p, size_t, std::align_val_t) noexcept) \
  X(_Znam, void* operator new[](size_t size)) \
  X(_ZnamRKSt9nothrow_t, void* operator new[](size_t size, const std::nothrow_t&) noexcept) \
  X(_ZnamSt11align_val_t, void* operator new[](size_t size, std::align_val_t)) \
  X(_ZnamSt11align_val_tRKSt9nothrow_t, \
    void* operator new[](size_t size, std::align_val_t, const std::nothrow_t&) noexcept) \
  X(_Znwm, void* operator new(size_t size)) \
  X(_ZnwmRKSt9nothrow_t, void* operator new(size_t size, const std::nothrow_t&) noexcept) \
  X(_ZnwmSt11align_val_t, void* operator new(size_t size, std::align_val_t)) \
  X(_ZnwmSt11align_val_tRKSt9nothrow_t, \
    void* operator new(size_t size, std::align_val_t, const std::nothrow_t&) noexcept)

#define HALO_EXPORTED_FUNCTIONS(X) \
  X(__libc_free, void __libc_free(void* p)) \
  X(__libc_realloc, void* __libc_realloc(void* p, size_t size)) \
  X(aligned_alloc, void* aligned_alloc(size_t alignment, size_t size)) \
  X(calloc, void* calloc(size_t count, size_t size)) \
  X(cfree, void cfree(void* p)) \
  X(dlclose, int dlclose(void* handle) noexcept) \
  X(dlopen, void* dlopen(const char* name, int flags)) \
  X(free, void free(void* p)) \
  X(free_aligned_sized, void free_aligned_sized(void* p, size_t, size_t)) \
  X(free_sized, void free_sized(void* p, size_t)) \
  X(mallinfo, HaloMallinfo mallinfo() noexcept) \
  X(mallinfo2, HaloMallinfo2 mallinfo2() noexcept) \
  X(malloc, void* malloc(size_t size)) \
  X(malloc_info, int malloc_info(int options, _IO_FILE* stream) noexcept) \
  X(malloc_stats, void malloc_stats() noexcept) \
  X(malloc_trim, int malloc_trim(size_t pad) noexcept) \
  X(malloc_usable_size, size_t malloc_usable_size(void* p)) \
  X(memalign, void* memalign(size_t alignment, size_t size)) \
  X(mmap, void* mmap(void* at, size_t, int, int, int, off_t) noexcept) \
  X(mmap64, void* mmap64(void* at, size_t, int, int, int, off_t) noexcept) \
  X(mprotect, int mprotect(void* at, size_t, int) noexcept) \
  X(pkey_mprotect, int pkey_mprotect(void* at, size_t, int, int) noexcept) \
  X(posix_memalign, int posix_memalign(void** into, size_t alignment, size_t size) noexcept) \
  X(pvalloc, void* pvalloc(size_t size)) \
  X(realloc, void* realloc(void* p, size_t size)) \
  X(reallocarray, void* reallocarray(void* p, size_t count, size_t size) noexcept) \
  X(shmat, void* shmat(int, const void* at, int) noexcept) \
  X(valloc, void* valloc(size_t size) noexcept)
// clang-format on

#define HALO_DECLARE(symbol, ...) HALO_EXPORT __VA_ARGS__;
