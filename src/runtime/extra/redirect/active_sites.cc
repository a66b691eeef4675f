// Creation of a thread's record, with a first scan of its stack.
#include "runtime/extra/redirect/active_sites.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>

#include "base/keep_errno.h"
#include "base/old_c_library.h"
#include "runtime/identify/walk_end.h"

namespace halo::runtime {

__thread ActiveSites* active_sites __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

constinit Stack main_stack{0, 0};
// The first thread, identified by the address of its descriptor, which a forked child keeps.
constinit uintptr_t main_thread = 0;
constinit std::atomic<ActiveSites*> all_records{nullptr};
constinit pthread_key_t exit_key = 0;
constinit bool have_exit_key = false;
// The thread has abandoned its record; its later allocations are forwarded.
__thread bool ending __attribute__((tls_model("initial-exec"))) = false;

uintptr_t thread_pointer() { return reinterpret_cast<uintptr_t>(__builtin_thread_pointer()); }

void abandon(void* record) {
  ending = true;
  active_sites = nullptr;
  static_cast<ActiveSites*>(record)->owned.store(false, std::memory_order_release);
}

ActiveSites* adopt_record() {
  for (ActiveSites* record = all_records.load(std::memory_order_acquire); record != nullptr;
       record = record->next) {
    bool expected = false;
    if (!record->owned.load(std::memory_order_relaxed) &&
        record->owned.compare_exchange_strong(expected, true, std::memory_order_acquire))
      return record;
  }
  void* memory = mmap(nullptr, sizeof(ActiveSites), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* record = static_cast<ActiveSites*>(memory);
  record->owned.store(true, std::memory_order_relaxed);
  record->next = all_records.load(std::memory_order_relaxed);
  while (!all_records.compare_exchange_weak(record->next, record, std::memory_order_release)) {
  }
  return record;
}

}  // namespace

// The start of this library, and the section behind its code, from the linker.
extern "C" HALO_HIDDEN const char __ehdr_start, _DYNAMIC;

size_t return_words(const uintptr_t* here) {
  constexpr size_t kFrameWords = 16;  // of operator new or realloc, which call further
                                      // functions
  const auto begin = reinterpret_cast<uintptr_t>(&__ehdr_start);
  const auto end = reinterpret_cast<uintptr_t>(&_DYNAMIC);
  return *here >= begin && *here < end ? 1 + kFrameWords : 1;
}

int32_t active_sites_offset() {
  auto address = reinterpret_cast<uintptr_t>(&active_sites);
  asm("" : "+r"(address));  // forces the address computation, the only form that yields this offset
  return static_cast<int32_t>(address - thread_pointer());
}

void set_main_stack(uintptr_t high) {
  rlimit limit{};
  constexpr rlim_t kMaximum = 1 << 27;  // the kernel keeps this much free below, regardless of the
                                        // limit
  if (getrlimit(RLIMIT_STACK, &limit) != 0) return;
  main_stack = {high - std::min(limit.rlim_cur, kMaximum), high};
  main_thread = thread_pointer();
  have_exit_key = make_key(exit_key, abandon);
}

// It reads arbitrary stack words, hence no AddressSanitizer.
__attribute__((no_sanitize("address"))) void find_active_sites(ActiveSites& active,
                                                               const SiteAddress* sites,
                                                               size_t count,
                                                               const uintptr_t* here) {
  const auto* end = reinterpret_cast<const uintptr_t*>(active.high);
  for (const uintptr_t* slot = here; slot < end; ++slot)
    for (size_t i = 0; i < count; ++i) {
      if (*slot != sites[i].address || sites[i].immediate) continue;
      const uintptr_t* caller = slot + sites[i].step / sizeof *slot;
      const bool known = sites[i].step != 0 && caller < end;
      active.sites[i] = {reinterpret_cast<uintptr_t>(slot), known ? *caller : 0};
    }
}

ActiveSites* begin_active_sites(const SiteAddress* sites, size_t count, const uintptr_t* here) {
  if (ending) return nullptr;
  const Stack stack = thread_pointer() == main_thread ? main_stack : thread_stack();
  const auto at = reinterpret_cast<uintptr_t>(here);
  if (at < stack.low || at >= stack.high) return nullptr;
  const KeepErrno keep;
  ActiveSites* record = adopt_record();
  if (record == nullptr) return nullptr;
  std::fill_n(record->sites, plan::kMaxSites, ActiveSite{});
  record->low = stack.low;
  record->high = stack.high;
  find_active_sites(*record, sites, count, here);
  // Set first: pthread_setspecific may allocate.
  active_sites = record;
  if (have_exit_key) pthread_setspecific(exit_key, record);
  return record;
}

}  // namespace halo::runtime
