// The look at allocations during a dlopen, and what threads and processes leave behind
// (docs/decisions/0009-modules.md).
#include "runtime/module_changes.h"

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cstdint>

#include "runtime/linker.h"
#include "runtime/modules.h"
#include "runtime/next.h"

namespace halo::runtime {
namespace {

// The calling thread's part in changes of modules.
struct Change {
  int thread;                // own_thread(), once a dlopen has begun
  std::uint16_t closing;     // calls of dlclose, one inside of the other
  std::uint8_t is_opening;   // a dlopen has begun, and is not known to be over
  std::uint8_t has_entered;  // it has been seen inside of the linker
  std::uint8_t patience;     // allocations to wait for that
  std::uint8_t is_looking;   // so that a look, and a handler that interrupts it, starts no other
};
__attribute__((tls_model("initial-exec"))) thread_local constinit Change change{};

// Allocations outside of the linker after which a dlopen that was not seen inside is taken to be
// over: what is open already is opened without an allocation.
constexpr std::uint8_t max_patience = 64;

constinit std::uint32_t openings = 0;  // threads with is_opening
constinit std::atomic_flag counting = ATOMIC_FLAG_INIT;
pthread_key_t change_key;  // set in such a thread
constinit bool have_change_key = false;

void* looking_malloc(std::size_t size);
void* looking_calloc(std::size_t count, std::size_t size);

// Meanwhile the linker must not be served from groups: its allocations would not come here.
void look_at_allocations(bool on) {
  silence_linker(on);
  fallback.malloc = on ? looking_malloc : next.malloc;
  fallback.calloc = on ? looking_calloc : next.calloc;
}

bool try_count() { return !counting.test_and_set(std::memory_order_acquire); }

void count_opening() {
  while (!try_count()) sched_yield();
  if (openings++ == 0) look_at_allocations(true);
  counting.clear(std::memory_order_release);
}

// False, and nothing is done, if another thread is at it.
bool end_opening() {
  if (!try_count()) return false;
  const bool settled = settle_expected(change.thread);
  if (settled) {
    change.is_opening = 0;
    if (--openings == 0) look_at_allocations(false);
  }
  counting.clear(std::memory_order_release);
  return settled;
}

void follow_opening() {
  if (is_in_linker(change.thread)) {
    change.has_entered = 1;
    if (is_mapping_modules()) look_at_modules(change.thread);
  } else if (change.has_entered || --change.patience == 0) {
    change.has_entered = 1;
    end_opening();
  }
}

void look() {
  if (change.is_looking) return;
  change.is_looking = 1;
  if (change.is_opening) follow_opening();
  if (expects_modules()) recognise_expected();
  change.is_looking = 0;
}

// These are entered by a jump from malloc and calloc, and left by one.
void* looking_malloc(std::size_t size) {
  if (change.is_opening || expects_modules()) look();
  return next.malloc(size);
}

void* looking_calloc(std::size_t count, std::size_t size) {
  if (change.is_opening || expects_modules()) look();
  return next.calloc(count, size);
}

// A thread that ends without having allocated since.
void end_with_thread(void*) {
  if (!change.is_opening) return;
  change.is_looking = 1;
  while (!end_opening()) sched_yield();
  change.is_looking = 0;
}

void forget_changes() {
  counting.clear();
  const bool is_closing = change.closing != 0;
  openings = 0;
  change = {};
  change.closing = is_closing ? 1 : 0;
  forget_other_threads(is_closing);
  look_at_allocations(false);
}

}  // namespace

void watch_modules() {
  find_linker();
  have_change_key = pthread_key_create(&change_key, end_with_thread) == 0;
  pthread_atfork(nullptr, nullptr, forget_changes);
}

void begin_opening() {
  if (!follows_modules()) return;
  change.patience = max_patience;
  if (change.is_opening) {
    // In a constructor both are over when the outer one is; else the earlier one is over by now.
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
