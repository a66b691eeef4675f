// Build-id matching over dl_iterate_phdr, and what is known of each module of the plan.
#include "runtime/modules.h"

#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "runtime/arena.h"
#include "runtime/build_id.h"
#include "runtime/identifier.h"
#include "runtime/linker.h"
#include "runtime/placing_budget.h"
#include "runtime/stats.h"
#include "runtime/thread_heap.h"

namespace halo::runtime {
namespace {

enum class Presence : std::uint8_t {
  absent,
  expected,    // mapped by a dlopen that may fail
  recognised,  // its states are found
  suspended,   // was recognised; a dlclose is under way, which may unmap it
};

struct KnownModule {
  std::uintptr_t bias;
  std::uintptr_t start;  // of its first segment
  Presence presence;
  bool stays;  // it was there at the start
};

// Where a look at the list has met a module of the plan.
struct Sighting {
  std::uintptr_t bias, start;
  bool seen;
  bool is_new;
};

constinit plan::PlanView the_plan;
constinit Table* table = nullptr;
constinit KnownModule* known = nullptr;
constinit std::uint32_t linker_module = plan::max_modules;  // of the plan; that many: not in it
constinit LoadedListener loaded_listener = nullptr;
constinit PlaceListener place_listener = nullptr;
constinit bool no_room = false;

// Of those who look at the list, one at a time: they hold the linker's lock.
constinit Sighting* sightings = nullptr;

// What the list was like at the last look: how many modules have ever come, a number that changes
// when one goes, and how many there were.
struct Generation {
  unsigned long long adds, subs;
  std::size_t count;
};
constinit Generation last_generation{};

// Guards what is known and the table's changes. Never held while waiting for another lock.
constinit std::atomic_flag changing = ATOMIC_FLAG_INIT;
constinit std::atomic<std::uint32_t> expected_count{0};
constinit std::uint32_t closing = 0;  // threads in dlclose
constinit int expecting_thread = 0;   // whose dlopen has brought what is expected
constinit PlacingBudget budget;

bool try_lock() { return !changing.test_and_set(std::memory_order_acquire); }
void lock() {
  while (!try_lock()) sched_yield();
}
void unlock() { changing.clear(std::memory_order_release); }

void* map_zeroed(std::size_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}

std::uint32_t module_count() { return static_cast<std::uint32_t>(the_plan.modules.size()); }

void set_presence(KnownModule& module, Presence presence) {
  const std::uint32_t before = module.presence == Presence::expected ? 1 : 0;
  const std::uint32_t after = presence == Presence::expected ? 1 : 0;
  module.presence = presence;
  expected_count.store(expected_count.load(std::memory_order_relaxed) + after - before,
                       std::memory_order_relaxed);
}

// The executable comes first: even where the loader was started as a program to load it.
int look_at_executable(dl_phdr_info* info, std::size_t, void* data) {
  const auto& plan = *static_cast<const plan::PlanView*>(data);
  return is_build_of(plan.modules[plan.header->executable - 1], build_id_of(*info)) ? 1 : -1;
}

int read_generation(dl_phdr_info* info, std::size_t, void* data) {
  auto& generation = *static_cast<Generation*>(data);
  generation.adds = info->dlpi_adds;
  generation.subs = info->dlpi_subs;
  return 1;
}

int count_module(dl_phdr_info*, std::size_t, void* data) {
  ++*static_cast<std::size_t*>(data);
  return 0;
}

std::uintptr_t start_of(const dl_phdr_info& info) {
  constexpr std::uintptr_t page = 4096;
  for (int i = 0; i < info.dlpi_phnum; ++i)
    if (info.dlpi_phdr[i].p_type == PT_LOAD)
      return (info.dlpi_addr + info.dlpi_phdr[i].p_vaddr) & ~(page - 1);
  return 0;
}

// A look at the list from the module of that number on. New ones are at its end.
struct Look {
  std::size_t at, begin, first_new;
};

int look_for_plan(dl_phdr_info* info, std::size_t, void* data) {
  auto& look = *static_cast<Look*>(data);
  const std::size_t at = look.at++;
  if (at < look.begin) return 0;
  const auto build_id = build_id_of(*info);
  for (std::size_t i = 0; i < the_plan.modules.size(); ++i)
    if (!sightings[i].seen && is_build_of(the_plan.modules[i], build_id))
      sightings[i] = {info->dlpi_addr, start_of(*info), true, at >= look.first_new};
  return 0;
}

// Some modules of the list, copied so that the list need not stay locked while they are told.
struct Batch {
  std::size_t at, begin, count;
  dl_phdr_info infos[16];
};

int fill_batch(dl_phdr_info* info, std::size_t, void* data) {
  auto& batch = *static_cast<Batch*>(data);
  if (batch.at++ < batch.begin) return 0;
  if (batch.count == std::size(batch.infos)) return 1;
  batch.infos[batch.count++] = *info;
  return 0;
}

void tell_loaded(std::size_t first) {
  if (loaded_listener == nullptr) return;
  Batch batch{};
  do {
    batch.at = batch.count = 0;
    batch.begin = first;
    dl_iterate_phdr(fill_batch, &batch);
    for (std::size_t i = 0; i < batch.count; ++i) loaded_listener(batch.infos[i]);
    first += batch.count;
  } while (batch.count == std::size(batch.infos));
}

void tell_place(std::uint32_t module, bool present) {
  if (place_listener != nullptr) place_listener(module, {known[module].bias, present});
}

void forget_module(std::uint32_t module) {
  remove_module(*table, module);
  set_presence(known[module], Presence::absent);
  tell_place(module, false);
}

// Gone, or somewhere else by now.
void forget_unseen() {
  for (std::uint32_t i = 0; i < module_count(); ++i) {
    const KnownModule& module = known[i];
    const bool is_there =
        sightings[i].seen && !sightings[i].is_new && sightings[i].bias == module.bias;
    if (module.presence != Presence::absent && !is_there) forget_module(i);
  }
}

// What was seen and is not known yet. Returns whether there was any.
bool expect_seen() {
  bool any = false;
  for (std::uint32_t i = 0; i < module_count(); ++i) {
    const bool is_new = sightings[i].seen && known[i].presence == Presence::absent;
    sightings[i].is_new = is_new;
    if (!is_new) continue;
    known[i].bias = sightings[i].bias;
    known[i].start = sightings[i].start;
    set_presence(known[i], Presence::expected);
    any = true;
  }
  return any;
}

// Looks at the list; `first_new` is the number of the first that the last look cannot have seen.
// Returns whether modules of the plan have come.
bool look_for_modules(bool any_gone, std::size_t first_new) {
  std::memset(sightings, 0, module_count() * sizeof *sightings);
  Look look{0, any_gone ? 0 : first_new, first_new};
  dl_iterate_phdr(look_for_plan, &look);
  tell_loaded(first_new);
  lock();
  if (any_gone) forget_unseen();
  const bool any = expect_seen();
  unlock();
  if (any && place_listener != nullptr)
    for (std::uint32_t i = 0; i < module_count(); ++i)
      if (sightings[i].is_new) tell_place(i, true);
  return any;
}

// Where what is expected and has come to stay, or what was suspended, is there to be recognised.
void recognise(std::uint32_t module) {
  if (closing != 0 || no_room) return;
  if (!open_groups(the_plan)) {
    no_room = true;
    return;
  }
  place_module(*table, module, known[module].bias);
  set_presence(known[module], Presence::recognised);
}

// The same, after the start. Where it would be done too often the module is left as it is, not
// placed, so that what its callers allocate is forwarded, until the next dlopen or dlclose.
void recognise_again(std::uint32_t module) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);  // no system call
  const ModuleStates& states = table->modules[module];
  const auto nanoseconds = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
                           static_cast<std::uint64_t>(now.tv_nsec);
  if (budget.take(states.end - states.entries, nanoseconds))
    recognise(module);
  else
    set_presence(known[module], Presence::recognised);
}

void recognise_registered() {
  if (closing != 0 || no_room) return;
  for (std::uint32_t i = 0; i < module_count(); ++i)
    if (known[i].presence == Presence::expected && is_registered(known[i].start))
      recognise_again(i);
}

// What was suspended is recognised again, or has gone.
void settle_suspended() {
  for (std::uint32_t i = 0; i < module_count(); ++i) {
    if (known[i].presence != Presence::suspended) continue;
    if (is_registered(known[i].start))
      recognise_again(i);
    else
      forget_module(i);
  }
}

bool make_room(const plan::PlanView& plan) {
  const std::size_t count = plan.modules.size();
  const std::size_t bytes = count * (sizeof *known + sizeof *sightings);
  auto* memory = static_cast<char*>(map_zeroed(bytes + table_bytes(plan.states.size(), count)));
  if (memory == nullptr) return false;
  known = reinterpret_cast<KnownModule*>(memory);
  sightings = reinterpret_cast<Sighting*>(known + count);
  the_plan = plan;
  table = make_table(plan.states, count, memory + bytes);
  return true;
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
  if (!arena.reserve(pages * system_page * 2)) return false;
  open_group_count = static_cast<std::uint32_t>(plan.groups.size());
  if (keeping_stats) watch_growth();
  prepare_heap();
  return true;
}

void tell_loaded_modules(LoadedListener listener) { loaded_listener = listener; }
void tell_places(PlaceListener listener) { place_listener = listener; }
void align_table_to_16() {
  lock();
  align_states_to_16(*table, linker_module);
  unlock();
}

bool follows_modules() { return table != nullptr; }
bool expects_modules() { return expected_count.load(std::memory_order_relaxed) != 0; }

unsigned publish_table(const plan::PlanView& plan) {
  if (!make_room(plan)) return 0;
  dl_iterate_phdr(read_generation, &last_generation);
  dl_iterate_phdr(count_module, &last_generation.count);
  look_for_modules(true, 0);
  unsigned found = 0;
  for (std::uint32_t i = 0; i < module_count(); ++i) {
    if (known[i].presence != Presence::expected) continue;
    recognise(i);
    known[i].stays = true;
    if (known[i].presence == Presence::recognised) ++found;
    if (known[i].bias == linker_bias()) linker_module = i;
  }
  use_table(table);
  return found;
}

void look_at_modules(int thread) {
  Generation now{};
  dl_iterate_phdr(read_generation, &now);
  if (now.adds == last_generation.adds && now.subs == last_generation.subs) return;
  dl_iterate_phdr(count_module, &now.count);
  const std::size_t came = now.adds - last_generation.adds;
  const bool any_gone = last_generation.count + came != now.count;
  last_generation = now;
  expecting_thread = thread;
  look_for_modules(any_gone, now.count > came ? now.count - came : 0);
}

void recognise_expected() {
  if (!try_lock()) return;
  recognise_registered();
  unlock();
}

bool settle_expected(int thread) {
  if (!try_lock()) return false;
  recognise_registered();
  for (std::uint32_t i = 0; i < module_count() && expecting_thread == thread; ++i)
    if (known[i].presence == Presence::expected && !is_registered(known[i].start)) forget_module(i);
  unlock();
  return true;
}

void suspend_modules() {
  lock();
  ++closing;
  for (std::uint32_t i = 0; i < module_count(); ++i) {
    const bool may_go = known[i].presence == Presence::recognised ||
                        (known[i].presence == Presence::expected && is_registered(known[i].start));
    if (known[i].stays || !may_go) continue;
    remove_module(*table, i);
    set_presence(known[i], Presence::suspended);
  }
  unlock();
}

void resume_modules() {
  lock();
  --closing;
  settle_suspended();
  recognise_registered();
  unlock();
}

void silence_linker(bool silent) {
  if (linker_module == plan::max_modules) return;
  lock();
  silence_callers(*table, linker_module, silent);
  unlock();
}

void forget_other_threads(bool is_closing) {
  unlock();
  if (table == nullptr) return;
  closing = is_closing ? 1 : 0;
  settle_suspended();
  recognise_registered();
}

}  // namespace halo::runtime
