// The functions by which an allocator tells programs about its memory, and purges it. They are rows
// of the allocator's own table (interface.h), so each has its own list here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/entry/allocators/interface.h"

#define HALO_STATISTICS_NATIVE(name, result, ...) HALO_HIDDEN extern result (*name)(__VA_ARGS__);
#define HALO_STATISTICS_OURS(name, result, ...) HALO_HIDDEN result name(__VA_ARGS__);
#define HALO_STATISTICS_DECLARE(list) \
  namespace native {                  \
  list(HALO_STATISTICS_NATIVE)        \
  }                                   \
  namespace ours {                    \
  list(HALO_STATISTICS_OURS)          \
  }
#define HALO_STATISTICS_DEFINE(name, result, ...) result (*name)(__VA_ARGS__) = nullptr;

namespace halo::runtime::statistics {

// clang-format off
#define HALO_JEMALLOC_STATISTICS(X) \
  X(mallctl, int, const char* name, void* old, size_t* old_bytes, void* now, \
    size_t now_bytes) \
  X(mallctlbymib, int, const size_t* mib, size_t length, void* old, \
    size_t* old_bytes, void* now, size_t now_bytes) \
  X(malloc_stats_print, void, void (*write)(void*, const char*), void* to, const char* options)
#define HALO_MIMALLOC_STATISTICS(X) \
  X(mi_process_info, void, size_t* elapsed, size_t* user, size_t* system, \
    size_t* rss, size_t* peak_rss, size_t* commit, size_t* peak_commit, \
    size_t* faults) \
  X(mi_stats_print, void, void (*write)(const char*, void*)) \
  X(mi_stats_print_out, void, void (*write)(const char*, void*), void* to) \
  X(mi_collect, void, bool force)
// Virtual functions of its class MallocExtension, through which its functions for C go, too.
#define HALO_GPERFTOOLS_STATISTICS(X) \
  X(_ZN15MallocExtension8GetStatsEPci, void, void* self, char* buffer, int bytes) \
  X(_ZN15MallocExtension15ReleaseToSystemEm, void, void* self, size_t bytes) \
  X(_ZN15MallocExtension18GetNumericPropertyEPKcPm, bool, void* self, const char* name, \
    size_t* value)
// clang-format on

HALO_STATISTICS_DECLARE(HALO_JEMALLOC_STATISTICS)
HALO_STATISTICS_DECLARE(HALO_MIMALLOC_STATISTICS)
HALO_STATISTICS_DECLARE(HALO_GPERFTOOLS_STATISTICS)
namespace native {
// Only called.
HALO_HIDDEN extern int (*mallctlnametomib)(const char* name, size_t* mib, size_t* length);
}  // namespace native

}  // namespace halo::runtime::statistics

#define HALO_STATISTICS_ROW(name, ...)                                       \
  {#name, reinterpret_cast<void*>(&::halo::runtime::statistics::ours::name), \
   reinterpret_cast<void**>(&::halo::runtime::statistics::native::name)},
#define HALO_JEMALLOC_STATISTICS_CALLED \
  {"mallctlnametomib", nullptr,         \
   reinterpret_cast<void**>(&::halo::runtime::statistics::native::mallctlnametomib)},
