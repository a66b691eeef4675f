// Inspects allocations during a dlopen, and cleans up after threads and processes
// (docs/decisions/0009-modules.md).
#include "runtime/modules/module_changes.h"

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "base/old_c_library.h"
#include "base/short_wait.h"
#include "runtime/base/next.h"
#include "runtime/modules/linker.h"
#include "runtime/modules/modules.h"

namespace halo::runtime {
namespace {

// The calling thread's part in module changes.
struct Change {
  int thread;             // own_thread(), set by the thread's first dlopen
  uint16_t closing;       // nesting depth of dlclose calls
  uint8_t is_opening;     // a dlopen has begun, and may not be over
  uint8_t has_entered;    // the thread was seen inside the linker
  uint8_t wait;           // allocations to wait for that
  uint8_t is_inspecting;  // prevents recursion from an inspection or from a signal handler in it
};
__attribute__((tls_model("initial-exec"))) thread_local constinit Change change{};

// A dlopen that was not seen inside the linker counts as over after this many allocations outside
// it: a module that is loaded already is opened without an allocation.
constexpr uint8_t kMaxWait = 64;

constinit uint32_t openings = 0;  // threads with is_opening
constinit std::atomic_flag counting = ATOMIC_FLAG_INIT;
pthread_key_t change_key;  // its destructor runs in a thread that has begun a dlopen
constinit bool have_change_key = false;

void* inspecting_malloc(size_t size);
void* inspecting_calloc(size_t count, size_t size);

// During that time the linker's own allocations are forwarded: groups would bypass the inspection.
void inspect_allocations(bool on) {
  silence_linker(on);
  fallback.malloc = on ? inspecting_malloc : next.malloc;
  fallback.calloc = on ? inspecting_calloc : next.calloc;
}

bool try_count() { return !counting.test_and_set(std::memory_order_acquire); }

void count_opening() {
  wait_until(try_count);
  if (openings++ == 0) inspect_allocations(true);
  counting.clear(std::memory_order_release);
}

// Returns false, and does nothing, if another thread is changing modules.
bool end_opening() {
  if (!try_count()) return false;
  const bool settled = finish_expected(change.thread);
  if (settled) {
    change.is_opening = 0;
    if (--openings == 0) inspect_allocations(false);
  }
  counting.clear(std::memory_order_release);
  return settled;
}

void follow_opening() {
  if (is_in_linker(change.thread)) {
    change.has_entered = 1;
    if (is_mapping_modules()) inspect_modules(change.thread);
  } else if (change.has_entered || --change.wait == 0) {
    change.has_entered = 1;
    end_opening();
  }
}

void scan() {
  if (change.is_inspecting) return;
  change.is_inspecting = 1;
  if (change.is_opening) follow_opening();
  if (expects_modules()) recognise_expected();
  change.is_inspecting = 0;
}

// malloc and calloc enter these by a jump, and they leave by a jump.
void* inspecting_malloc(size_t size) {
  if (change.is_opening || expects_modules()) scan();
  return next.malloc(size);
}

void* inspecting_calloc(size_t count, size_t size) {
  if (change.is_opening || expects_modules()) scan();
  return next.calloc(count, size);
}

// For a thread that ends without an allocation after its dlopen.
void end_with_thread(void*) {
  if (!change.is_opening) return;
  change.is_inspecting = 1;
  wait_until(end_opening);
  change.is_inspecting = 0;
}

void drop_changes() {
  counting.clear();
  const bool is_closing = change.closing != 0;
  openings = 0;
  change = {};
  change.closing = is_closing ? 1 : 0;
  drop_other_threads(is_closing);
  inspect_allocations(false);
}

}  // namespace

void watch_modules() {
  find_linker();
  have_change_key = make_key(change_key, end_with_thread);
  pthread_atfork(nullptr, nullptr, drop_changes);
}

void begin_opening() {
  if (!follows_modules()) return;
  change.wait = kMaxWait;
  if (change.is_opening) {
    // In a constructor, both are over when the outer one is; otherwise the earlier one is over
    // already.
    if (!is_in_linker(change.thread)) change.has_entered = 0;
    return;
  }
  change.thread = own_thread();
  change.has_entered = 0;
  if (have_change_key) pthread_setspecific(change_key, &change_key);
  count_opening();
  change.is_opening = 1;
}

void begin_closing() {
  if (!follows_modules()) return;
  ++change.closing;
  suspend_modules();
}

void end_closing() {
  if (change.closing == 0) return;
  --change.closing;
  resume_modules();
}

}  // namespace halo::runtime
