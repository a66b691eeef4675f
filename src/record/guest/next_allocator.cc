// Look-up of the next allocator, and the arena that serves until it is found.
#include "record/guest/next_allocator.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdint>

#include "record/guest/report.h"

namespace halo::record::guest {

namespace {

alignas(4096) char arena[64 * 1024];
std::atomic<size_t> arena_used{0};

NextAllocator found;
std::atomic<const NextAllocator*> published{nullptr};
__attribute__((tls_model("initial-exec"))) thread_local bool looking = false;

template <class Function>
void look_up(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

const NextAllocator* resolve() {
  if (looking) return nullptr;
  looking = true;
  // Threads that race here write the same values.
  look_up(found.malloc, "malloc");
  look_up(found.free, "free");
  look_up(found.calloc, "calloc");
  look_up(found.realloc, "realloc");
  look_up(found.memalign, "memalign");
  look_up(found.posix_memalign, "posix_memalign");
  look_up(found.aligned_alloc, "aligned_alloc");
  look_up(found.valloc, "valloc");
  look_up(found.pvalloc, "pvalloc");
  begin_listening();
  published.store(&found, std::memory_order_release);
  looking = false;
  return &found;
}

// Before the program can start threads.
__attribute__((constructor)) void resolve_early() { next_allocator(); }

}  // namespace

const NextAllocator* next_allocator() {
  const NextAllocator* next = published.load(std::memory_order_acquire);
  return next != nullptr ? next : resolve();
}

void* bootstrap_allocate(size_t size, size_t alignment) {
  if (size > sizeof arena || alignment > 4096) return nullptr;
  size_t used = arena_used.load(std::memory_order_relaxed);
  size_t begin;
  do {
    begin = (used + alignment - 1) / alignment * alignment;
    if (begin + size > sizeof arena) return nullptr;
  } while (!arena_used.compare_exchange_weak(used, begin + size));
  return arena + begin;
}

bool from_bootstrap(const void* address) {
  const char* at = static_cast<const char*>(address);
  return at >= arena && at < arena + sizeof arena;
}

size_t bootstrap_room(const void* address) {
  return size_t(arena + sizeof arena - static_cast<const char*>(address));
}

}  // namespace halo::record::guest
