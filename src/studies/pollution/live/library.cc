// libhalo-watch.so, preloaded with libhalo-extra.so: starts the watch in a program, and reports at
// its end.
#include "studies/pollution/live/library.h"

#include <pthread.h>
#include <stdlib.h>

#include <cstdio>
#include <cstring>
#include <new>

#include "base/keep_errno.h"
#include "base/output_path.h"
#include "studies/pollution/live/cache_size.h"
#include "studies/pollution/live/live_watch.h"
#include "studies/pollution/live/report.h"
#include "studies/pollution/live/span_state.h"
#include "studies/pollution/live/watch_thread.h"

namespace halo::watching {
namespace {

// Never destroyed: threads may use it until the process ends.
struct Watch {
  Watch(const Settings& settings, const HaloSpanControl& given)
      : control(given), live(settings, given, queue), thread(live, queue) {}

  const HaloSpanControl& control;
  CommandQueue queue;
  LiveWatch live;
  WatchThread thread;
};

alignas(Watch) char watch_memory[sizeof(Watch)];
Watch* watch = nullptr;
bool reports = false;
const char* refusal = "";  // why there is no watch, if there is none
frames::Refusal colours_refusal = frames::Refusal::kNone;
char report_path[4096];

void allocated(void* p, size_t bytes, uint32_t group, uint32_t* state) {
  const KeepErrno keep;
  const uint32_t announced = load_state(state);
  watch->thread.start();
  if (watch->thread.is_off() || !watch->thread.is_of_this_process() ||
      !watch->queue.push({Command::Kind::kAllocated, group, p, bytes, state, announced}))
    ignore(state);
}

// Waits until the watch has disarmed the span's pages.
void freeing(void* p, uint32_t* state) {
  const KeepErrno keep;
  const uint32_t word = load_state(state);
  if (state_of(word) == kHaloSpanIgnored) return;
  if (state_of(word) == kHaloSpanAnnounced &&
      replace_state(state, word, change_state(word, kHaloSpanIgnored)))
    return;
  WatchThread& thread = watch->thread;
  if (thread.is_off() || !thread.is_of_this_process()) return ignore(state);
  const Command command = {Command::Kind::kFreeing, 0, p, 0, state, 0};
  bool told = watch->queue.push(command);
  for (int rings = 0; state_of(load_state(state)) != kHaloSpanIgnored && !thread.is_off();
       ++rings) {
    if (rings == WatchThread::kMaxRings) thread.give_up();
    thread.ring(rings);
    if (!told) told = watch->queue.push(command);
  }
  ignore(state);
}

// The parent may end as soon as fork returns (daemon does), and its watch with it.
void forked_in_parent() {
  const KeepErrno keep;
  watch->thread.fill_children();
}

void forked_in_child() { watch->thread.forget(); }

// The main thread has ended, but not by `exit`. The process must end with the last of its threads,
// so the thread of the watch ends now.
void main_ended(void*) {
  const KeepErrno keep;
  watch->thread.join();
}

// To be called by the main thread. Returns false if there is no room for what is watched.
bool watch_the_process() {
  pthread_key_t key;
  return pthread_atfork(nullptr, forked_in_parent, forked_in_child) == 0 &&
         pthread_key_create(&key, main_ended) == 0 && pthread_setspecific(key, watch) == 0;
}

constexpr HaloSpanWatcher kWatcher = {allocated, freeing};

const char* variable(const char* name) {
  const char* value = secure_getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

// Without frames, groups are confined to their rings as they are.
void choose_colours(const HaloSpanControl& given, Settings& settings) {
  const char* text = variable("HALO_WATCH_COLOURS");
  if (text == nullptr) return;
  const frames::ColourRange colours = frames::ColourRange::parse(text);
  colours_refusal = colours.is_valid() ? frames::probe_frames() : frames::Refusal::kNotColours;
  if (colours_refusal == frames::Refusal::kNone && traps::probe() != traps::Refusal::kNone)
    colours_refusal = frames::Refusal::kNoTraps;
  if (colours_refusal != frames::Refusal::kNone) return;
  settings.colours = colours;
  constexpr uint64_t kKeptParts = 2;  // a program may free as much and allocate it again
  given.colour_rings(kKeptParts * settings.cache_bytes * colours.count() / colours.total);
}

Settings choose_settings(const HaloSpanControl& given) {
  Settings settings;
  settings.stress = variable("HALO_WATCH_STRESS") != nullptr;
  const char* bytes = variable("HALO_WATCH_CACHE");
  settings.cache_bytes = bytes != nullptr ? strtoull(bytes, nullptr, 10) : last_level_bytes();
  if (const char* share = variable("HALO_WATCH_SHARE")) settings.share = strtod(share, nullptr);
  choose_colours(given, settings);
  return settings;
}

// Null if there is no memory.
Watch* make_watch(const HaloSpanControl& control) {
  try {
    return new (watch_memory) Watch(choose_settings(control), control);
  } catch (const std::bad_alloc&) {
    refusal = traps::text_of(traps::Refusal::kNoMemory);
    return nullptr;
  }
}

// Without a system call if there is no watch any more, and no report.
__attribute__((destructor)) void finish() {
  if (watch != nullptr) {
    if ((reports || !watch->thread.is_off()) && !watch->thread.is_of_this_process()) return;
    watch->thread.stop();
    refusal = watch->thread.refusal();
  }
  if (reports)
    write_report(report_path, watch != nullptr ? &watch->live : nullptr, refusal,
                 frames::text_of(colours_refusal));
}

bool overlaps(uintptr_t begin, size_t bytes, uintptr_t other, size_t other_bytes) {
  return begin < other + other_bytes && other < begin + bytes;
}

}  // namespace

bool pause_for(uintptr_t begin, size_t bytes) {
  if (watch == nullptr || watch->thread.is_off()) return false;
  for (const auto range : {watch->control.arena, watch->control.spans}) {
    uintptr_t at = 0;
    size_t size = 0;
    range(&at, &size);
    if (!overlaps(begin, bytes, at, size)) continue;
    watch->thread.pause();
    return true;
  }
  return false;
}

void resume() { watch->thread.resume(); }

bool end_watch() { return watch != nullptr && watch->thread.join(); }

}  // namespace halo::watching

using namespace halo::watching;

// Why traps cannot be used by this process; empty if they can.
extern "C" __attribute__((visibility("default"))) const char* halo_watch_refusal() {
  return halo::traps::text_of(halo::traps::probe());
}

// Called before this library's constructors have run.
extern "C" __attribute__((visibility("default"))) const HaloSpanWatcher* halo_watch_begin(
    const HaloSpanControl* given) {
  const halo::KeepErrno keep;
  if (variable("HALO_WATCH") == nullptr) return nullptr;
  if (const char* path = variable("HALO_WATCH_REPORT"))
    reports = snprintf(report_path, sizeof report_path, "%s", path) > 0;
  Watch* const made = make_watch(*given);
  if (made == nullptr) return nullptr;
  watch = made;
  if (!watch_the_process()) watch->thread.stop();
  if (variable("HALO_WATCH_STRESS") != nullptr) watch->thread.start();  // without spans, too
  return &kWatcher;
}
