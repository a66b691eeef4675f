// Resolves the next allocator, and serves the allocations of dlsym itself during that.
#include "runtime/base/next.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "base/bootstrap.h"
#include "base/module_bounds.h"
#include "base/old_c_library.h"
#include "base/own_module.h"

namespace halo::runtime {
namespace {

// Set in the thread that runs dlsym: its allocations are served from the bootstrap arena.
__attribute__((tls_model("initial-exec"))) thread_local bool resolving = false;
constinit std::atomic<bool> resolved{false};

// Whether the program itself defines the function, not a library. A symbol of the program without a
// section only says where its calls of a library's function lead.
bool is_programs(void* function) {
  Dl_info info;
  void* found = nullptr;
  if (is_in_own_module(function) || !module_of(function).is_first) return false;
  if (!find_module(function, info, &found, RTLD_DL_SYMENT) || found == nullptr) return false;
  return static_cast<const ElfW(Sym)*>(found)->st_shndx != SHN_UNDEF;
}

// The program's function of that name; null if it defines none.
template <typename Function>
void look_up_programs(Function& function, const char* name) {
  void* first = find_symbol(RTLD_DEFAULT, name);
  function = is_programs(first) ? reinterpret_cast<Function>(first) : nullptr;
}

void* first_malloc(size_t size) {
  if (resolving) return bootstrap_allocate(size);
  resolve_next();
  return next.malloc(size);
}

void* first_calloc(size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  if (resolving) return bootstrap_allocate(bytes);
  resolve_next();
  return next.calloc(count, size);
}

// Blocks of the next allocator that dlsym frees before that allocator's free is resolved. If the
// table is full, further blocks leak.
//
// Any thread appends: it claims a slot by fetch_add and fills it with a release store.
// `free_deferred` takes a slot by an exchange, so each block is freed once.
constinit void* deferred_frees[64]{};
constinit std::atomic<unsigned> deferred_count{0};

void defer_free(void* p) {
  const unsigned at = deferred_count.fetch_add(1, std::memory_order_relaxed);
  if (at < std::size(deferred_frees)) __atomic_store_n(&deferred_frees[at], p, __ATOMIC_RELEASE);
}

void free_deferred() {
  if (deferred_count.load(std::memory_order_relaxed) == 0) return;
  for (void*& slot : deferred_frees)
    if (void* p = __atomic_exchange_n(&slot, nullptr, __ATOMIC_ACQ_REL)) next.free(p);
}

// Frees of bootstrap memory are ignored; all other blocks go to the next allocator.
void first_free(void* p) {
  if (p == nullptr || bootstrap_contains(p)) return;
  if (resolving) return defer_free(p);
  resolve_next();
  next.free(p);
}

void first_free_of_new(void* p) {
  if (p == nullptr || bootstrap_contains(p)) return;
  if (resolving) return defer_free(p);
  resolve_next();
  next.free_of_new(p);
}

size_t first_usable_size(void* p) {
  if (bootstrap_contains(p)) return bootstrap_size(p);
  if (resolving) return 0;
  resolve_next();
  return next.usable_size == nullptr ? 0 : next.usable_size(p);
}

// The next allocator's own functions, used by the wrappers below.
constinit NextAllocator unguarded{};

void* first_realloc(void* p, size_t size) {
  if (resolving && p != nullptr && !bootstrap_contains(p)) {
    errno = ENOMEM;  // the size of the old block is not known yet
    return nullptr;
  }
  if (resolving || (p != nullptr && bootstrap_contains(p))) {
    void* moved = resolving ? bootstrap_allocate(size) : first_malloc(size);
    return p == nullptr ? moved : move_from_bootstrap(moved, size, p);
  }
  resolve_next();
  return next.realloc(p, size);
}

void* first_memalign(size_t alignment, size_t size) {
  if (resolving) return bootstrap_allocate(size, alignment);
  resolve_next();
  return next.memalign(alignment, size);
}

int first_posix_memalign(void** into, size_t alignment, size_t size) {
  if (!resolving) {
    resolve_next();
    return next.posix_memalign(into, alignment, size);
  }
  *into = bootstrap_allocate(size, alignment);
  return *into == nullptr ? ENOMEM : 0;
}

void* first_aligned_alloc(size_t alignment, size_t size) {
  if (resolving) return bootstrap_allocate(size, alignment);
  resolve_next();
  return next.aligned_alloc(alignment, size);
}

void free_past_bootstrap(void* p) {
  if (!bootstrap_contains(p)) unguarded.free(p);
}

void* realloc_past_bootstrap(void* p, size_t size) {
  if (!bootstrap_contains(p)) return unguarded.realloc(p, size);
  return move_from_bootstrap(next.malloc(size), size, p);
}

size_t usable_size_past_bootstrap(void* p) {
  return bootstrap_contains(p) ? bootstrap_size(p) : unguarded.usable_size(p);
}

void libc_free_past_bootstrap(void* p) {
  if (!bootstrap_contains(p)) unguarded.libc_free(p);
}

void* libc_realloc_past_bootstrap(void* p, size_t size) {
  return bootstrap_contains(p) ? realloc_past_bootstrap(p, size) : unguarded.libc_realloc(p, size);
}

void first_libc_free(void* p) {
  if (p == nullptr || bootstrap_contains(p)) return;
  if (resolving) return defer_free(p);
  resolve_next();
  next.libc_free(p);
}

void* first_libc_realloc(void* p, size_t size) {
  if (resolving || bootstrap_contains(p)) return first_realloc(p, size);
  resolve_next();
  return next.libc_realloc(p, size);
}

// Only processes that have used the bootstrap arena pay for the range check.
void guard_bootstrap_memory(NextAllocator& found) {
  unguarded = found;
  found.free = free_past_bootstrap;
  found.realloc = realloc_past_bootstrap;
  found.libc_free = libc_free_past_bootstrap;
  found.libc_realloc = libc_realloc_past_bootstrap;
  if (found.usable_size != nullptr) found.usable_size = usable_size_past_bootstrap;
}

}  // namespace

constinit NextAllocator next{{first_malloc, first_calloc, first_realloc, first_free, first_memalign,
                              first_posix_memalign, first_aligned_alloc, nullptr, nullptr},
                             first_usable_size,
                             first_libc_free,
                             first_libc_realloc,
                             first_free_of_new};

constinit Fallback fallback{first_malloc, first_calloc};

constinit ProgramsAllocator programs_allocator{};

void resolve_next() {
  if (resolved.load(std::memory_order_acquire)) return;
  const int saved_errno = errno;
  NextAllocator found = next;
  resolving = true;
  look_up_next(found);
  found.usable_size = nullptr;
  look_up_next(found.usable_size, "malloc_usable_size");
  found.libc_free = found.free;
  found.libc_realloc = found.realloc;
  look_up_next(found.libc_free, "__libc_free");
  look_up_next(found.libc_realloc, "__libc_realloc");
  // glibc's versions of functions that the next allocator lacks must not be called: they do not
  // recognise its blocks.
  const ModuleBounds library = module_of(reinterpret_cast<void*>(found.malloc));
  const auto drop_others = [&](auto& function) {
    if (!library.contains(reinterpret_cast<void*>(function))) function = nullptr;
  };
  drop_others(found.valloc);
  drop_others(found.pvalloc);
  drop_others(found.usable_size);
  ProgramsAllocator programs{};
  void (*programs_free)(void*) = nullptr;
  look_up_programs(programs.malloc, "malloc");
  look_up_programs(programs.aligned_alloc, "aligned_alloc");
  look_up_programs(programs_free, "free");
  resolving = false;
  errno = saved_errno;
  // Two threads may both get here; they write the same values.
  if (bootstrap_was_used()) guard_bootstrap_memory(found);
  found.free_of_new = found.free;
  if (programs.malloc != nullptr && programs_free != nullptr) {
    programs_allocator = programs;
    found.free_of_new = programs_free;
  }
  next = found;
  if (fallback.malloc == first_malloc) fallback.malloc = found.malloc;
  if (fallback.calloc == first_calloc) fallback.calloc = found.calloc;
  resolved.store(true, std::memory_order_release);
  free_deferred();
}

}  // namespace halo::runtime
