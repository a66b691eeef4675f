#include "studies/pollution/live/watch_thread.h"

#include "base/keep_errno.h"
#include "base/signals_blocked.h"
#include "studies/pollution/live/span_state.h"
#include "studies/pollution/traps/user_faults.h"

namespace halo::watching {

void* WatchThread::run(void* self) {
  static_cast<WatchThread*>(self)->serve();
  return nullptr;
}

void WatchThread::serve() {
  const traps::Refusal answer = live_.open();
  if (answer != traps::Refusal::kNone) {
    refusal_ = traps::text_of(answer);
    stage_ = Stage::kOff;
    // Spans that were announced meanwhile are not followed.
    Command command;
    while (queue_.pop(command)) ignore(command.state);
    return;
  }
  bell_ = live_.bell();
  stage_ = Stage::kWatching;
  while (!ends_) live_.serve();
  live_.close();
  stopped_ = true;
}

void WatchThread::start() {
  if (stage_ != Stage::kWaiting || !is_of_this_process()) return;
  Stage waiting = Stage::kWaiting;
  if (!stage_.compare_exchange_strong(waiting, Stage::kStarting)) return;
  const KeepErrno keep;
  // The thread inherits them. libc's own signals reach it: setuid waits for all threads.
  const SignalsBlocked blocked(kProgramSignals);
  if (pthread_create(&thread_, nullptr, run, this) == 0) {
    can_be_joined_ = true;
  } else {
    refusal_ = "the thread of the watch cannot be started";
    stage_ = Stage::kOff;
  }
}

void WatchThread::ring(int count) const {
  constexpr int kQuickRings = 20;
  constexpr long kPauseNs = 50'000;
  if (const volatile char* page = bell_.load(std::memory_order_acquire)) (void)*page;
  if (count >= kQuickRings) traps::pause_thread(kPauseNs);
}

void WatchThread::give_up() {
  refusal_ = "the thread of the watch does not answer";
  stage_ = Stage::kOff;
}

void WatchThread::wait_for_passes(uint32_t count) const {
  const uint32_t passes = live_.passes();
  for (int rings = 0; rings < kMaxRings && live_.passes() - passes < count && !stopped_; ++rings)
    ring(rings);
}

void WatchThread::fill_children() const {
  if (stage_ == Stage::kWatching && live_.may_have_armed() && is_of_this_process())
    wait_for_passes(1);
}

// The first pass may have begun before.
void WatchThread::pause() {
  ++live_.pauses();
  if (stage_ == Stage::kWatching && live_.may_have_armed() && is_of_this_process())
    wait_for_passes(2);
}

void WatchThread::stop() {
  const KeepErrno keep;
  ends_ = true;
  Stage waiting = Stage::kWaiting;
  if (stage_.compare_exchange_strong(waiting, Stage::kOff) || is_off()) return;
  if (!is_of_this_process()) return;
  for (int rings = 0; rings < kMaxRings && stage_ != Stage::kOff && !stopped_; ++rings) ring(rings);
}

bool WatchThread::join() {
  stop();
  const bool ends = stopped_ || bell_ == nullptr;  // not if it does not answer
  if (!ends || !can_be_joined_ || !is_of_this_process()) return false;
  if (!can_be_joined_.exchange(false)) return false;
  pthread_join(thread_, nullptr);
  return true;
}

}  // namespace halo::watching
