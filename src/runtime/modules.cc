// Build-id matching over dl_iterate_phdr, and the rescan after dlopen and dlclose.
#include "runtime/modules.h"

#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "runtime/arena.h"
#include "runtime/build_id.h"
#include "runtime/identifier.h"
#include "runtime/next.h"
#include "runtime/stats.h"
#include "runtime/thread_heap.h"

namespace halo::runtime {
namespace {

constinit plan::PlanView the_plan;
constinit const Table* first_table = nullptr;
constinit PlacesListener places_listener = nullptr;

// A table made earlier, for the set of modules at these places: programs that load and unload the
// same plug-in again and again must not pile up tables, which are never unmapped.
struct Published {
  const Published* older;
  const Table* table;
  unsigned found;
  ModulePlace places[1];
};
constinit const Published* published = nullptr;

// 1 while a thread rescans.
constinit std::atomic_flag rescanning = ATOMIC_FLAG_INIT;

struct Search {
  const plan::PlanView* plan;
  ModulePlace* places;
  unsigned found;
};

int search_module(dl_phdr_info* info, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  const auto build_id = build_id_of(*info);
  for (std::size_t i = 0; i < search.plan->modules.size(); ++i) {
    if (search.places[i].present || !is_build_of(search.plan->modules[i], build_id)) continue;
    search.places[i] = {info->dlpi_addr, true};
    ++search.found;
  }
  return 0;
}

// The executable comes first: even where the loader was started as a program to load it.
int look_at_executable(dl_phdr_info* info, std::size_t, void* data) {
  const auto& plan = *static_cast<const plan::PlanView*>(data);
  return is_build_of(plan.modules[plan.header->executable - 1], build_id_of(*info)) ? 1 : -1;
}

void* map_zeroed(std::size_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}

void tell(const ModulePlace* places, std::size_t count) {
  if (places_listener != nullptr) places_listener({places, count});
}

const Published* find_published(const ModulePlace* places, std::size_t count) {
  for (const Published* p = published; p != nullptr; p = p->older)
    if (std::memcmp(p->places, places, count * sizeof *places) == 0) return p;
  return nullptr;
}

// The dlopen or dlclose that this thread is in: where its return address lies (null: in none), and
// that address.
struct Change {
  const std::uintptr_t* slot;
  std::uintptr_t address;
  bool closing;
};
__attribute__((tls_model("initial-exec"))) thread_local constinit Change change{nullptr, 0, false};
constinit std::atomic<int> changes{
    0};  // threads in such a call; meanwhile fallbacks lead here first
constinit std::atomic<int> closing{0};  // those of them that are in dlclose
pthread_key_t change_key;               // set in a thread that is in such a call
constinit bool have_change_key = false;

// Whether the call is over, seen from an allocation whose return address lies at `slot`: the stack
// has shrunk to there, or another call has since overwritten that place, or this is another stack
// altogether.
bool change_is_over(const std::uintptr_t* slot) {
  constexpr std::ptrdiff_t same_stack = 64 * 1024;  // bytes
  if (slot >= change.slot) return true;
  if (reinterpret_cast<const char*>(change.slot) - reinterpret_cast<const char*>(slot) > same_stack)
    return true;
  return *change.slot != change.address;
}

void* rescanning_malloc(std::size_t size);
void* rescanning_calloc(std::size_t count, std::size_t size);

void check_on_fallback(bool on) {
  fallback.malloc = on ? rescanning_malloc : next.malloc;
  fallback.calloc = on ? rescanning_calloc : next.calloc;
}

void end_change() {
  change.slot = nullptr;
  if (change.closing) closing.fetch_sub(1);
  change.closing = false;
  publish_table(the_plan);
  // Another thread is in dlclose: what was just found may be going.
  if (closing.load() != 0) use_table(first_table);
  if (changes.fetch_sub(1) != 1) return;
  check_on_fallback(false);
  if (changes.load() != 0) check_on_fallback(true);  // one has begun since
}

void rescan_if_returned(const std::uintptr_t* slot) {
  if (change.slot == nullptr || !change_is_over(slot)) return;
  if (rescanning.test_and_set(std::memory_order_acquire)) return;
  end_change();
  rescanning.clear(std::memory_order_release);
}

// A thread that ends without having allocated since.
void end_change_with_thread(void*) {
  if (change.slot == nullptr) return;
  while (rescanning.test_and_set(std::memory_order_acquire)) sched_yield();
  end_change();
  rescanning.clear(std::memory_order_release);
}

// In a forked child nobody else is in such a call, and the linker's list may be locked for ever by
// a thread that is gone: what is known stays, nothing is looked at because of an earlier call.
void forget_changes() {
  rescanning.clear();
  change = {nullptr, 0, false};
  changes = 0;
  closing = 0;
  check_on_fallback(false);
}

// These are entered by a jump from malloc and calloc, so their own return address is the program's.
const std::uintptr_t* own_slot(void* frame) {
  return static_cast<const std::uintptr_t*>(frame) + 1;
}

void* rescanning_malloc(std::size_t size) {
  rescan_if_returned(own_slot(__builtin_frame_address(0)));
  return next.malloc(size);
}

void* rescanning_calloc(std::size_t count, std::size_t size) {
  rescan_if_returned(own_slot(__builtin_frame_address(0)));
  return next.calloc(count, size);
}

}  // namespace

bool is_for_this_program(const plan::PlanView& plan) {
  if (plan.header->executable == 0) return true;
  auto* data = const_cast<plan::PlanView*>(&plan);
  return dl_iterate_phdr(look_at_executable, data) == 1;
}

constinit std::uint32_t open_group_count = 0;

// When the first of the plan's modules turns up, so that processes that merely inherit the plan
// reserve nothing.
bool open_groups(const plan::PlanView& plan) {
  if (open_group_count != 0) return true;
  const auto pages = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES));
  configure_heaps(plan.groups, plan.header->max_object);
  if (!arena.reserve(pages * page * 2)) return false;
  open_group_count = static_cast<std::uint32_t>(plan.groups.size());
  if (keeping_stats) watch_growth();
  prepare_heap();
  return true;
}

unsigned publish_table(const plan::PlanView& plan) {
  the_plan = plan;
  const std::size_t count = plan.modules.size();
  const std::size_t head = sizeof(Published) + count * sizeof(ModulePlace);
  auto* entry = static_cast<Published*>(map_zeroed(head + table_bytes(plan.states.size())));
  if (entry == nullptr) return 0;
  Search search{&plan, entry->places, 0};
  dl_iterate_phdr(search_module, &search);
  if (const Published* same = find_published(entry->places, count)) {
    munmap(entry, head + table_bytes(plan.states.size()));
    use_table(same->table);
    tell(same->places, count);
    return same->found;
  }
  const bool refused = search.found != 0 && !open_groups(plan);
  if (refused) search.found = 0;
  const std::size_t at = (head + 63) & ~std::size_t{63};
  entry->table =
      make_table(plan.states, {entry->places, count}, reinterpret_cast<char*>(entry) + at);
  entry->found = search.found;
  entry->older = published;
  published = entry;
  if (first_table == nullptr) first_table = entry->table;
  if (search.found != 0) use_table(entry->table);
  if (!refused) tell(entry->places, count);
  return search.found;
}

void tell_places(PlacesListener listener) { places_listener = listener; }

void watch_modules() {
  have_change_key = pthread_key_create(&change_key, end_change_with_thread) == 0;
  pthread_atfork(nullptr, nullptr, forget_changes);
}

void expect_module_change(const std::uintptr_t* slot) {
  if (first_table == nullptr) return;
  if (change.slot != nullptr) {
    // Nested (a constructor that calls dlopen): the outermost call decides when it is over.
    if (!change_is_over(slot)) return;
  } else {
    changes.fetch_add(1);
    if (have_change_key) pthread_setspecific(change_key, &change_key);
  }
  change.slot = slot;
  change.address = *slot;
  check_on_fallback(true);
}

void distrust_late_modules() {
  if (first_table == nullptr) return;
  if (!change.closing) closing.fetch_add(1);
  change.closing = true;
  use_table(first_table);
}

}  // namespace halo::runtime
