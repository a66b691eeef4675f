// Timers, the handler of their signal, and the sink of bursts.
#include "recorder/native/sampler.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <span>

#include "base/system_call.h"
#include "recorder/native/burst/bursts.h"
#include "recorder/native/engine.h"
#include "recorder/native/signals.h"

namespace halo::native {

constinit Sampler sampler;

namespace {

using events::Record;

constexpr uint64_t kFirstWords = 1 << 20, kEarlyWords = 1 << 17, kLaterWords = 1 << 15;
constexpr uint64_t kFirstDelay = 1000, kShortDelay = 1'000'000;  // ns of processor time
constexpr uint64_t kWatch = 100'000'000;  // of paused bursts, whose end may go unnoticed
constexpr uint64_t kMaxWeight = 1 << 20;
constexpr uint64_t kMinWords = 1000;  // fewer are weighed like these

struct Timer {
  int32_t number = -1;
  uint64_t begun = 0;   // ns of processor time at which the present burst began; pauses postpone it
  uint64_t ended = 0;   // at which the one before ended
  uint64_t paused = 0;  // when it did
  uint64_t native = 0;  // ns since the one before
  uint64_t words = 0;   // that the present burst is to have
  bool is_paused = false;
  bool is_exact = false;    // it represents itself alone
  bool begins_now = false;  // at the next signal, also in the recorder's own code
  bool ends = false;        // it has no more words than it has now
  uint64_t random = 0;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local Timer timer;

uint64_t processor_time() {
  timespec now{};
  system_call(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, address_of(&now));
  return uint64_t(now.tv_sec) * 1'000'000'000 + uint64_t(now.tv_nsec);
}

// Of the process: how many threads have begun, up to kFirstThreads, and what all bursts but the
// first ones of these have cost, up to kFirstCost, in ns.
constinit std::atomic<uint32_t> threads_begun{0};
constinit std::atomic<uint64_t> cost_of_all{0};
// All bursts are as short and as far apart as the later ones.
constinit std::atomic<bool> is_gentle{false};

bool is_young() {
  return !is_gentle.load(std::memory_order_relaxed) &&
         cost_of_all.load(std::memory_order_relaxed) < Sampler::kFirstCost;
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
  if (engine.is_restricted()) return;
  if (Engine::lost()) return Sampler::end_thread();
  Thread* thread = engine.enter();
  if (thread == nullptr) return arm(kShortDelay);
  const uint64_t words = timer.begins_now ? kFirstWords : is_young() ? kEarlyWords : kLaterWords;
  if (!bursts.start(interrupted, words, timer.begins_now))
    return arm(Bursts::is_active() ? kWatch : kShortDelay);
  const uint64_t now = processor_time();
  timer.native = now - timer.ended;
  timer.is_exact = timer.begins_now;
  timer.begins_now = false;
  timer.begun = now;
  timer.words = words;
  timer.ends = false;
  thread->writer.begin_burst(timer.is_exact);
}

// Waits for nothing in a paused call: what was recorded before is sent.
void changed(Bursts::Change change) {
  if (!engine.is_on()) return;  // the process may not make these system calls
  if (change == Bursts::Change::kResumes) {
    timer.is_paused = false;
    timer.begun += processor_time() - timer.paused;
    return;
  }
  timer.ends = change == Bursts::Change::kEnds;
  const bool goes_on = change == Bursts::Change::kIsFull;
  if (Thread* thread = engine.enter()) {
    const Busy busy(*thread);
    Sampler::flush(*thread);
    if (!goes_on) thread->writer.settle();
  }
  if (goes_on) return;
  if (!timer.is_paused) timer.paused = processor_time();  // else a handler has left for good
  timer.is_paused = !timer.ends;
  if (!timer.ends) return;
  timer.ended = timer.paused;
  const uint64_t cost = timer.ended - timer.begun;
  if (!timer.is_exact && is_young()) cost_of_all.fetch_add(cost, std::memory_order_relaxed);
  // Else nothing would be recorded for long behind the first ones.
  const uint64_t of_later = cost * kLaterWords / std::max(bursts.words(), kLaterWords);
  arm(is_young() ? kShortDelay : std::max(kShortDelay, of_later * Sampler::kShare));
}

// Of the present call of Sampler::flush.
[[gnu::tls_model("initial-exec")]] constinit thread_local Thread* flushed = nullptr;

void send(std::span<const Access> accesses) {
  StreamWriter& writer = flushed->writer;
  writer.reserve(2 + accesses.size());
  writer.begin_part();
  writer.mark_epoch();
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

// Bursts begin uniformly in time, but the first one, which stands for itself alone. So a burst
// stands for the time since the one before, and each of its words for an equal part, in ns. How
// long its words would take natively cannot be told: of their time in the burst, most is what
// recording adds, less in loops and more in code that bursts seldom visit.
uint64_t Sampler::weight() {
  if (timer.is_exact) return 1;
  const uint64_t words = timer.ends ? bursts.words() : std::max(bursts.words(), timer.words);
  const uint64_t weighed = std::max(words, kMinWords);
  return std::clamp<uint64_t>((timer.native + weighed / 2) / weighed, 1, kMaxWeight);
}

void Sampler::begin() {
  if (!bursts.begin(send, changed, true)) return;
  is_on_ = watch_signals(on_timer, [](uint64_t max_object) { engine.request(max_object); });
}

void Sampler::begin_gently() {
  threads_begun.store(Sampler::kFirstThreads, std::memory_order_relaxed);
  is_gentle.store(true, std::memory_order_relaxed);
}

bool Sampler::begin_thread(Kept& kept) {
  if (!is_on_) return false;
  end_thread();  // of an earlier recording
  bursts.adopt(kept.burst);
  if (kept.timer != 0) system_call(SYS_timer_delete, uint64_t(kept.timer - 1));
  kept.timer = 0;
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = kTimerSignal;
  event.sigev_value.sival_ptr = timer_value();
  event._sigev_un._tid = pid_t(system_call(SYS_gettid));
  timer = {.ended = processor_time()};
  if (system_call(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, address_of(&event),
                  address_of(&timer.number)) != 0)
    return false;
  kept.timer = timer.number + 1;
  timer.random = uint64_t(event._sigev_un._tid) * 0x9E3779B97F4A7C15;
  arm(kFirstDelay);
  return threads_begun.load(std::memory_order_relaxed) < kFirstThreads &&
         threads_begun.fetch_add(1, std::memory_order_relaxed) < kFirstThreads;
}

void Sampler::begin_now() {
  timer.begins_now = true;
  siginfo_t info{};
  info.si_signo = kTimerSignal;
  info.si_code = SI_TIMER;
  info.si_ptr = timer_value();
  system_call(SYS_rt_tgsigqueueinfo, system_call(SYS_getpid), system_call(SYS_gettid), kTimerSignal,
              address_of(&info));
}

void Sampler::end_thread() {
  if (timer.number >= 0) system_call(SYS_timer_delete, uint64_t(timer.number));
  timer.number = -1;
}

void Sampler::after_fork() {
  if (is_on_) bursts.after_fork();
  cost_of_all.store(0, std::memory_order_relaxed);
}

}  // namespace halo::native
