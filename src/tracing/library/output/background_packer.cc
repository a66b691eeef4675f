// The transfer of a block to the packing thread, and that thread.
#include "tracing/library/output/background_packer.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include <cstring>
#include <new>

#include "tracing/library/futex.h"
#include "tracing/library/local.h"
#include "tracing/library/own_thread.h"

namespace halo::logging {

using trace::Logged;
using trace::Packer;

namespace {

constexpr size_t kBlockBytes = Packer::kMaxEvents * sizeof(Logged);
constexpr int64_t kPause = 1000;  // milliseconds; normally a wake-up comes first

bool has_second_processor() {
  cpu_set_t usable;
  return sched_getaffinity(0, sizeof usable, &usable) != 0 || CPU_COUNT(&usable) > 1;
}

}  // namespace

void BackgroundPacker::reset() {
  packer_ = nullptr;
  block_ = nullptr;
  started_ = false;
  events_ = 0;
  state_ = kIdle;
  stopped_ = false;
}

void BackgroundPacker::stop() {
  stopped_ = true;
  futex_wake_all(state_);
}

void BackgroundPacker::begin() {
  if (!has_second_processor()) return;
  packer_ = new (packer_memory_) Packer;
  void* at = mmap(nullptr, kBlockBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at != MAP_FAILED) block_ = static_cast<Logged*>(at);
  if (!packer_->ok() || block_ == nullptr) packer_ = nullptr;
}

void BackgroundPacker::add_sites(std::span<const trace::SiteTraits> sites) {
  if (packer_ != nullptr && !packer_->add_sites(sites)) packer_ = nullptr;
}

bool BackgroundPacker::submit(uint32_t thread, std::span<const Logged> events) {
  if (packer_ == nullptr || pending() || events.size() > Packer::kMaxEvents) return false;
  if (!started_) started_ = start_own_thread(run, this);
  if (!started_) {
    packer_ = nullptr;
    return false;
  }
  memcpy(block_, events.data(), events.size_bytes());
  thread_ = thread;
  events_ = events.size();
  state_.store(kSubmitted, std::memory_order_release);
  futex_wake_all(state_);
  return true;
}

std::span<const std::byte> BackgroundPacker::take() {
  while (state_.load(std::memory_order_acquire) != kPacked) futex_wait(state_, kSubmitted, kPause);
  state_.store(kIdle, std::memory_order_relaxed);
  events_ = 0;
  return packed_;
}

void* BackgroundPacker::run(void* self) {
  halo_log_local.state = ThreadState::kOurs;
  pthread_setname_np(pthread_self(), "halo-packing");
  static_cast<BackgroundPacker*>(self)->work();
  return nullptr;
}

void BackgroundPacker::work() {
  for (;;) {
    for (uint32_t now; (now = state_.load(std::memory_order_acquire)) != kSubmitted;) {
      if (stopped_) return;
      futex_wait(state_, now, kPause);
    }
    packed_ = packer_->pack(thread_, {block_, events_});
    state_.store(kPacked, std::memory_order_release);
    futex_wake_all(state_);
  }
}

}  // namespace halo::logging
