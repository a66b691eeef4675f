// Build-id matching over dl_iterate_phdr, and the state of each module of the plan.
#include "runtime/modules/modules.h"

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/short_wait.h"
#include "runtime/base/active_plan.h"
#include "runtime/base/diagnosis.h"
#include "runtime/code/alignment.h"
#include "runtime/heap/thread_heap.h"
#include "runtime/identify/identifier.h"
#include "runtime/modules/linker.h"
#include "runtime/modules/placing_budget.h"
#include "runtime/pages/arena.h"

namespace halo::runtime {
namespace {

enum class Presence : uint8_t {
  kAbsent,
  kExpected,    // mapped by a dlopen that may fail
  kRecognised,  // its states are in the table
  kSuspended,   // was recognised; an active dlclose may unmap it
};

struct KnownModule {
  uintptr_t bias;
  uintptr_t start;  // of its first segment
  Presence presence;
  bool stays;      // it was loaded at the start
  bool is_unlike;  // a loaded module has its build-id, but other content
};

// The place at which a scan of the list found a module of the plan.
struct Sighting {
  uintptr_t bias, start;
  bool seen;
  bool is_new;
};

constinit Table* table = nullptr;
constinit KnownModule* known = nullptr;
constinit uint32_t linker_module = plan::kMaxModules;  // index in the plan; its number of
                                                       // modules: not in it
constinit LoadedListener loaded_listener = nullptr;
constinit PlaceListener place_listener = nullptr;
constinit bool no_room = false;

// Used by one scan at a time: scans hold the linker's lock.
constinit Sighting* sightings = nullptr;

// The list at the last scan: the number of modules ever loaded, the number ever unloaded, and the
// number scanned.
struct Generation {
  unsigned long long adds, subs;
  size_t count;
};
constinit Generation last_generation{};

// Guards the states of modules and changes of the table. A thread that holds it never waits for
// another lock.
constinit std::atomic_flag changing = ATOMIC_FLAG_INIT;
constinit std::atomic<uint32_t> expected_count{0};
constinit uint32_t closing = 0;      // threads in dlclose
constinit int expecting_thread = 0;  // the thread whose dlopen loaded the expected modules
constinit PlacingBudget budget;

// Asked for, and not done yet. A thread that has cleared `changing` reads it afterwards, and a
// thread that sets it tries the lock afterwards, so one of both does it.
constinit std::atomic<bool> wants_alignment{false};

bool try_lock() { return !changing.test_and_set(); }
void lock() { wait_until(try_lock); }

void align_if_wanted() {
  while (wants_alignment.load() && try_lock()) {
    align_states_to_16(*table, linker_module);
    wants_alignment.store(false);
    changing.clear();
  }
}

void unlock() {
  changing.clear();
  align_if_wanted();
}

void* map_zeroed(size_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}

uint32_t module_count() { return static_cast<uint32_t>(active_plan.modules.size()); }

void set_presence(KnownModule& module, Presence presence) {
  const uint32_t before = module.presence == Presence::kExpected ? 1 : 0;
  const uint32_t after = presence == Presence::kExpected ? 1 : 0;
  module.presence = presence;
  expected_count.store(expected_count.load(std::memory_order_relaxed) + after - before,
                       std::memory_order_relaxed);
}

// The executable is the first module, even if the loader was started as a program to load it.
int inspect_executable(dl_phdr_info* info, size_t, void* data) {
  const auto& executable = active_plan.modules[active_plan.header->executable - 1];
  *static_cast<Match*>(data) = match(executable, *info, build_id_of(*info));
  return 1;
}

int read_generation(dl_phdr_info* info, size_t, void* data) {
  auto& generation = *static_cast<Generation*>(data);
  generation.adds = info->dlpi_adds;
  generation.subs = info->dlpi_subs;
  return 1;
}

int count_module(dl_phdr_info*, size_t, void* data) {
  ++*static_cast<size_t*>(data);
  return 0;
}

uintptr_t start_of(const dl_phdr_info& info) {
  constexpr uintptr_t kPage = 4096;
  for (int i = 0; i < info.dlpi_phnum; ++i)
    if (info.dlpi_phdr[i].p_type == PT_LOAD)
      return (info.dlpi_addr + info.dlpi_phdr[i].p_vaddr) & ~(kPage - 1);
  return 0;
}

// A scan of the list from the module with that index on. New modules are at its end.
struct Scan {
  size_t at, begin, first_new;
};

int scan_module(dl_phdr_info* info, size_t, void* data) {
  auto& scan = *static_cast<Scan*>(data);
  const size_t at = scan.at++;
  if (at < scan.begin) return 0;
  const auto build_id = build_id_of(*info);
  for (size_t i = 0; i < active_plan.modules.size(); ++i) {
    if (sightings[i].seen) continue;
    const Match found = match(active_plan.modules[i], *info, build_id);
    if (found == Match::kBuildIdOnly) known[i].is_unlike = true;
    if (found == Match::kYes)
      sightings[i] = {info->dlpi_addr, start_of(*info), true, at >= scan.first_new};
  }
  return 0;
}

// Some modules of the list, copied so that the list is unlocked during the callbacks.
struct Batch {
  size_t at, begin, count;
  dl_phdr_info infos[16];
};

int fill_batch(dl_phdr_info* info, size_t, void* data) {
  auto& batch = *static_cast<Batch*>(data);
  if (batch.at++ < batch.begin) return 0;
  if (batch.count == std::size(batch.infos)) return 1;
  batch.infos[batch.count++] = *info;
  return 0;
}

void report_loaded(size_t first) {
  if (loaded_listener == nullptr) return;
  Batch batch{};
  do {
    batch.at = batch.count = 0;
    batch.begin = first;
    dl_iterate_phdr(fill_batch, &batch);
    for (size_t i = 0; i < batch.count; ++i) loaded_listener(batch.infos[i]);
    first += batch.count;
  } while (batch.count == std::size(batch.infos));
}

void report_place(uint32_t module, bool present) {
  if (place_listener != nullptr) place_listener(module, {known[module].bias, present});
}

void drop_module(uint32_t module) {
  remove_module(*table, module);
  set_presence(known[module], Presence::kAbsent);
  report_place(module, false);
}

// Modules that were unloaded or moved.
void drop_unseen() {
  for (uint32_t i = 0; i < module_count(); ++i) {
    const KnownModule& module = known[i];
    const bool is_there =
        sightings[i].seen && !sightings[i].is_new && sightings[i].bias == module.bias;
    if (module.presence != Presence::kAbsent && !is_there) drop_module(i);
  }
}

// Marks modules that were found for the first time. Returns whether there were any.
bool expect_seen() {
  bool any = false;
  for (uint32_t i = 0; i < module_count(); ++i) {
    const bool is_new = sightings[i].seen && known[i].presence == Presence::kAbsent;
    sightings[i].is_new = is_new;
    if (!is_new) continue;
    known[i].bias = sightings[i].bias;
    known[i].start = sightings[i].start;
    set_presence(known[i], Presence::kExpected);
    any = true;
  }
  return any;
}

// Scans the list; `first_new` is the index of the first module that the last scan cannot have
// found. Returns whether modules of the plan were loaded.
bool scan_modules(bool any_gone, size_t first_new) {
  std::memset(sightings, 0, module_count() * sizeof *sightings);
  Scan scan{0, any_gone ? 0 : first_new, first_new};
  dl_iterate_phdr(scan_module, &scan);
  report_loaded(first_new);
  lock();
  if (any_gone) drop_unseen();
  const bool any = expect_seen();
  unlock();
  if (any && place_listener != nullptr)
    for (uint32_t i = 0; i < module_count(); ++i)
      if (sightings[i].is_new) report_place(i, true);
  return any;
}

// Recognises an expected module that is registered, or a suspended one that is still loaded.
void recognise(uint32_t module) {
  if (closing != 0 || no_room) return;
  if (!open_groups()) {
    no_room = true;
    return;
  }
  place_module(*table, module, known[module].bias);
  set_presence(known[module], Presence::kRecognised);
}

// Likewise, after the start. If it would happen too often, the module stays unplaced, and its
// callers' allocations are forwarded until the next dlopen or dlclose.
void recognise_again(uint32_t module) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);  // no system call
  const ModuleStates& states = table->modules[module];
  const auto nanoseconds =
      static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
  if (budget.take(states.end - states.entries, nanoseconds))
    recognise(module);
  else
    set_presence(known[module], Presence::kRecognised);
}

void recognise_registered() {
  if (closing != 0 || no_room) return;
  for (uint32_t i = 0; i < module_count(); ++i)
    if (known[i].presence == Presence::kExpected && is_registered(known[i].start))
      recognise_again(i);
}

// Recognises suspended modules again, or removes those that were unloaded.
void finish_suspended() {
  for (uint32_t i = 0; i < module_count(); ++i) {
    if (known[i].presence != Presence::kSuspended) continue;
    if (is_registered(known[i].start))
      recognise_again(i);
    else
      drop_module(i);
  }
}

bool make_room() {
  const size_t count = active_plan.modules.size();
  const size_t bytes = count * (sizeof *known + sizeof *sightings);
  auto* memory =
      static_cast<char*>(map_zeroed(bytes + table_bytes(active_plan.states.size(), count)));
  if (memory == nullptr) return false;
  known = reinterpret_cast<KnownModule*>(memory);
  sightings = reinterpret_cast<Sighting*>(known + count);
  table = make_table(active_plan.states, count, memory + bytes);
  return true;
}

}  // namespace

Match match_program() {
  Match found = Match::kYes;
  if (active_plan.header->executable != 0) dl_iterate_phdr(inspect_executable, &found);
  return found;
}

unsigned unlike_modules() {
  return static_cast<unsigned>(
      std::count_if(known, known + (known == nullptr ? 0 : module_count()),
                    [](const KnownModule& module) { return module.is_unlike; }));
}

constinit uint32_t open_group_count = 0;

// Opened with the first of the plan's modules, so that processes that merely inherit the plan
// reserve nothing.
bool open_groups() {
  if (open_group_count != 0) return true;
  const auto pages = static_cast<size_t>(sysconf(_SC_PHYS_PAGES));
  configure_heaps(active_plan.groups, active_plan.header->max_object);
  if (!arena.reserve(pages * kSystemPage * 2)) return false;
  open_group_count = static_cast<uint32_t>(active_plan.groups.size());
  if (keeping_stats) watch_growth();
  prepare_heap();
  return true;
}

bool is_planned(uintptr_t bias) {
  return std::any_of(known, known + (known == nullptr ? 0 : module_count()),
                     [&](const KnownModule& module) {
                       return module.presence == Presence::kRecognised && module.bias == bias;
                     });
}

void set_loaded_listener(LoadedListener listener) { loaded_listener = listener; }
void set_place_listener(PlaceListener listener) { place_listener = listener; }
void align_table_to_16() {
  constexpr int kAttempts = 20;
  wants_alignment.store(true);
  for (int i = 0; i < kAttempts; ++i) {
    align_if_wanted();
    if (!wants_alignment.load()) return;
    sleep_shortly();
  }
}

bool follows_modules() { return table != nullptr; }
bool expects_modules() { return expected_count.load(std::memory_order_relaxed) != 0; }

unsigned publish_table() {
  if (!make_room()) return 0;
  // Before callers are recognised: a library's constructor may have started threads. No state has
  // an address yet.
  use_table(table);
  dl_iterate_phdr(read_generation, &last_generation);
  dl_iterate_phdr(count_module, &last_generation.count);
  scan_modules(true, 0);
  unsigned found = 0;
  for (uint32_t i = 0; i < module_count(); ++i) {
    if (known[i].presence != Presence::kExpected) continue;
    recognise(i);
    known[i].stays = true;
    if (known[i].presence == Presence::kRecognised) ++found;
    if (known[i].bias == linker_bias()) linker_module = i;
  }
  return found;
}

void inspect_modules(int thread) {
  Generation now{};
  dl_iterate_phdr(read_generation, &now);
  if (now.adds == last_generation.adds && now.subs == last_generation.subs) return;
  dl_iterate_phdr(count_module, &now.count);
  const size_t came = now.adds - last_generation.adds;
  const bool any_gone = last_generation.count + came != now.count;
  last_generation = now;
  expecting_thread = thread;
  const size_t stayed = now.count > came ? now.count - came : 0;
  if (any_gone) forget_checked_modules_but(stayed);
  scan_modules(any_gone, stayed);
}

void recognise_expected() {
  if (!try_lock()) return;
  recognise_registered();
  unlock();
}

bool finish_expected(int thread) {
  if (!try_lock()) return false;
  recognise_registered();
  for (uint32_t i = 0; i < module_count() && expecting_thread == thread; ++i)
    if (known[i].presence == Presence::kExpected && !is_registered(known[i].start)) drop_module(i);
  unlock();
  return true;
}

void suspend_modules() {
  lock();
  ++closing;
  for (uint32_t i = 0; i < module_count(); ++i) {
    const bool may_go = known[i].presence == Presence::kRecognised ||
                        (known[i].presence == Presence::kExpected && is_registered(known[i].start));
    if (known[i].stays || !may_go) continue;
    remove_module(*table, i);
    set_presence(known[i], Presence::kSuspended);
  }
  unlock();
}

void resume_modules() {
  lock();
  --closing;
  finish_suspended();
  recognise_registered();
  unlock();
}

void silence_linker(bool silent) {
  if (linker_module == plan::kMaxModules) return;
  lock();
  silence_callers(*table, linker_module, silent);
  unlock();
}

void drop_other_threads(bool is_closing) {
  unlock();
  if (table == nullptr) return;
  closing = is_closing ? 1 : 0;
  finish_suspended();
  recognise_registered();
}

}  // namespace halo::runtime
