// libhalo-watch.so, preloaded with libhalo.so: starts the watch in a program, and reports at its
// end.
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <new>

#include "base/keep_errno.h"
#include "base/output_path.h"
#include "base/signals_blocked.h"
#include "traps/user_faults.h"
#include "watching/cache_size.h"
#include "watching/live_watch.h"
#include "watching/report.h"
#include "watching/span_state.h"

namespace halo::watching {
namespace {

enum class Stage : int { kWaiting, kStarting, kWatching, kOff };

// Never destroyed: threads may use it until the process ends.
alignas(LiveWatch) char watch_memory[sizeof(LiveWatch)];
LiveWatch* live = nullptr;
alignas(CommandQueue) char queue_memory[sizeof(CommandQueue)];
CommandQueue* queue = nullptr;
const HaloSpanControl* control = nullptr;
std::atomic<Stage> stage{Stage::kWaiting};
std::atomic<const volatile char*> bell{nullptr};
std::atomic<traps::Refusal> refusal{traps::Refusal::kNone};
std::atomic<bool> reporting{false}, stopped{false};
frames::Refusal colours_refusal = frames::Refusal::kNone;
pid_t owner = 0;
char report_path[4096];
Settings settings;

bool is_owner() { return getpid() == owner; }

void* serve(void*) {
  refusal = live->open();
  if (refusal != traps::Refusal::kNone) {
    stage = Stage::kOff;
    // Spans that were announced meanwhile are not followed.
    Command command;
    while (queue->pop(command)) ignore(command.state);
    return nullptr;
  }
  bell = live->bell();
  stage = Stage::kWatching;
  while (!reporting) live->serve();
  live->close();
  stopped = true;
  return nullptr;
}

// Not before the first span: a program with one thread may do what one with two may not.
void start() {
  Stage waiting = Stage::kWaiting;
  if (!stage.compare_exchange_strong(waiting, Stage::kStarting)) return;
  // The thread inherits them. libc's own signals reach it: setuid waits for all threads.
  const SignalsBlocked blocked(kProgramSignals);
  pthread_t thread;
  if (pthread_create(&thread, nullptr, serve, nullptr) == 0)
    pthread_detach(thread);
  else
    stage = Stage::kOff;
}

void allocated(void* p, size_t bytes, uint32_t group, uint32_t* state) {
  const KeepErrno keep;
  const uint32_t announced = load_state(state);
  start();
  if (stage == Stage::kOff || !is_owner() ||
      !queue->push({Command::Kind::kAllocated, group, p, bytes, state, announced}))
    ignore(state);
}

// Waits until the watch has disarmed the span's pages. A child has no watch, and no armed pages.
void freeing(void* p, uint32_t* state) {
  constexpr int kMaxRings = 2000, kQuickRings = 20;
  constexpr long kPauseNs = 50'000;
  const KeepErrno keep;
  const uint32_t word = load_state(state);
  if (state_of(word) == kHaloSpanIgnored) return;
  if (state_of(word) == kHaloSpanAnnounced &&
      replace_state(state, word, change_state(word, kHaloSpanIgnored)))
    return;
  if (!is_owner() || stopped) return ignore(state);
  const Command command = {Command::Kind::kFreeing, 0, p, 0, state, 0};
  bool told = queue->push(command);
  for (int ring = 0; ring < kMaxRings && state_of(load_state(state)) != kHaloSpanIgnored; ++ring) {
    if (const volatile char* page = bell.load(std::memory_order_acquire)) (void)*page;
    if (!told) told = queue->push(command);
    if (stopped) break;
    if (ring >= kQuickRings) traps::pause_thread(kPauseNs);  // the bell is not armed
  }
  ignore(state);
}

constexpr HaloSpanWatcher kWatcher = {allocated, freeing};

const char* variable(const char* name) {
  const char* value = secure_getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

// Without frames, groups are confined to their rings as they are.
void begin_colours(const HaloSpanControl& given) {
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

__attribute__((destructor)) void finish() {
  if (control == nullptr || !is_owner()) return;
  constexpr useconds_t kStep = 1000;
  constexpr int kSteps = 1000;
  reporting = true;
  if (stage == Stage::kWatching)
    for (int step = 0; step < kSteps && !stopped; ++step) usleep(kStep);
  if (report_path[0] != '\0')
    write_report(report_path, *live, traps::text_of(refusal), frames::text_of(colours_refusal));
}

}  // namespace
}  // namespace halo::watching

using namespace halo::watching;

// Called before this library's constructors have run.
extern "C" __attribute__((visibility("default"))) const HaloSpanWatcher* halo_watch_begin(
    const HaloSpanControl* given) {
  const halo::KeepErrno keep;
  if (variable("HALO_WATCH") == nullptr) return nullptr;
  owner = getpid();
  settings.stress = variable("HALO_WATCH_STRESS") != nullptr;
  const char* bytes = variable("HALO_WATCH_CACHE");
  settings.cache_bytes = bytes != nullptr ? strtoull(bytes, nullptr, 10) : last_level_bytes();
  if (const char* share = variable("HALO_WATCH_SHARE")) settings.share = strtod(share, nullptr);
  if (const char* path = variable("HALO_WATCH_REPORT"))
    snprintf(report_path, sizeof report_path, "%s", path);
  begin_colours(*given);
  control = given;
  queue = new (queue_memory) CommandQueue;
  live = new (watch_memory) LiveWatch(settings, *given, *queue);
  if (settings.stress) start();  // for programs without spans, too
  return &kWatcher;
}
