// Timers, the handler of their signal, and the sink of bursts.
#include "native/sampler.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

#include <algorithm>
#include <bit>
#include <span>

#include "base/system_call.h"
#include "native/burst/bursts.h"
#include "native/engine.h"
#include "native/signals.h"

namespace halo::native {

constinit Sampler sampler;

namespace {

using events::Kind;
using events::Record;

constexpr uint64_t kFirstWords = 1 << 17, kLaterWords = 1 << 15;
constexpr uint64_t kFirstDelay = 1000, kShortDelay = 1'000'000;  // ns of processor time
constexpr uint64_t kWatch = 100'000'000;  // of paused bursts, whose end may go unnoticed
constexpr uint64_t kWordsOfAccess = 2;                           // about, with those of blocks
constexpr uint64_t kNativeNs = 1;  // of an access outside of bursts, about
constexpr uint64_t kMaxWeight = 1 << 20;

struct Timer {
  int32_t number = -1;
  uint64_t begun = 0;  // ns of processor time at which the present burst began
  uint64_t ended = 0;  // at which the one before ended
  uint64_t cost = 0;   // of all bursts, in ns; counts up to kFirstCost
  uint64_t random = 0;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local Timer timer;

bool is_young() { return timer.cost < Sampler::kFirstCost; }

uint64_t processor_time() {
  timespec now{};
  system_call(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, address_of(&now));
  return uint64_t(now.tv_sec) * 1'000'000'000 + uint64_t(now.tv_nsec);
}

// Between half and one and a half of the delay, so that no period of the program is met always.
void arm(uint64_t delay) {
  timer.random = timer.random * 6364136223846793005 + 1442695040888963407;
  const uint64_t varied = std::max<uint64_t>(delay / 2 + (timer.random >> 33) % (delay + 1), 1);
  const itimerspec when{.it_interval = {.tv_sec = 0, .tv_nsec = kWatch},
                        .it_value = {time_t(varied / 1'000'000'000), long(varied % 1'000'000'000)}};
  system_call(SYS_timer_settime, uint64_t(timer.number), 0, address_of(&when), 0);
}

void on_timer(ucontext_t& interrupted) {
  Thread* thread = engine.enter();
  if (thread == nullptr) return arm(kShortDelay);
  const uint64_t words = is_young() ? kFirstWords : kLaterWords;
  const uint64_t now = processor_time();
  if (!bursts.start(interrupted, words)) return arm(bursts.is_active() ? kWatch : kShortDelay);
  const uint64_t native = (now - timer.ended) / kNativeNs;
  thread->weight = std::clamp<uint64_t>(native / (words / kWordsOfAccess), 1, kMaxWeight);
  timer.begun = now;
}

void stopped(bool for_good) {
  if (Thread* thread = engine.enter()) {
    const Busy busy(*thread);
    Sampler::flush(*thread);
  }
  if (!for_good) return;
  timer.ended = processor_time();
  const uint64_t cost = timer.ended - timer.begun;
  timer.cost += cost;
  arm(is_young() ? kShortDelay : std::max(kShortDelay, cost * Sampler::kShare));
}

// Of the present call of Sampler::flush.
[[gnu::tls_model("initial-exec")]] constinit thread_local Thread* flushed = nullptr;

void send(std::span<const Access> accesses) {
  StreamWriter& writer = flushed->writer;
  writer.reserve(2 + accesses.size());
  writer.see_epoch();
  if (flushed->weight != 0) {
    writer.put(Record::make(Kind::kBurst, 0, flushed->weight));
    flushed->weight = 0;
  }
  for (const Access& access : accesses) {
    if (!engine.is_heap(access.address)) continue;
    const Operand& operand = *access.operand;
    const auto size = uint32_t(std::bit_width(operand.size) - 1);
    writer.put(Record::access(access.address, std::min(size, 3u), operand.store && !operand.load,
                              operand.alignment_class, access.code));
  }
  writer.publish();
}

}  // namespace

void Sampler::flush(Thread& thread) {
  flushed = &thread;
  bursts.flush();
}

void Sampler::begin() {
  if (!bursts.begin(send, stopped, true)) return;
  is_on_ = watch_signals(on_timer);
}

void Sampler::begin_thread() {
  if (!is_on_) return;
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = kTimerSignal;
  event.sigev_value.sival_ptr = timer_value();
  event._sigev_un._tid = pid_t(system_call(SYS_gettid));
  timer = {};
  if (system_call(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, address_of(&event),
                  address_of(&timer.number)) != 0)
    return;
  timer.random = uint64_t(event._sigev_un._tid) * 0x9E3779B97F4A7C15;
  arm(kFirstDelay);
}

void Sampler::after_fork() {
  if (is_on_) bursts.after_fork();
}

}  // namespace halo::native
