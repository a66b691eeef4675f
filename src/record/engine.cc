// The consumer's work, forks, and the end of a recording.
#include "record/engine.h"

#include <time.h>
#include <unistd.h>

#include "base/signals_blocked.h"
#include "record/output/part_writer.h"

namespace halo::record {

namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

Engine::Engine(const Options& options)
    : options_(options), progress_(options.progress), analysis_(options.parameters) {
  shared_.max_object_size = options.parameters.max_object_size;
  shared_.merge_repeats = options.merge_repeats;
  shared_.all_accesses = options.parameters.need_all_accesses();
  shared_.contents = options.parameters.need_contents();
  shared_.on_ring_full = [this] { ensure_consumer(); };
  analysis_.set_process(getpid());
  ensure_consumer();
}

Producer& Engine::begin_thread() {
  const std::lock_guard lock(registry_);
  uint32_t at = uint32_t(producers_.size());
  if (free_.empty()) {
    producers_.emplace_back();
  } else {
    at = free_.back();
    free_.pop_back();
  }
  std::unique_ptr<Producer>& producer = producers_[at];
  if (producer == nullptr) {
    producer = std::make_unique<Producer>(base::ThreadId{at}, shared_, contexts_);
  } else {
    producer->reuse();
  }
  return *producer;
}

void Engine::end_thread(Producer& producer) {
  producer.end();
  producer.ended.store(true, std::memory_order_release);
}

void Engine::ensure_consumer() {
  if (consumer_runs_.exchange(true)) return;
  // The consumer must never run a signal handler: QEMU's expects a thread of the guest.
  const SignalsBlocked blocked(kProgramSignals);
  std::thread([this] { consume_forever(); }).detach();
}

void Engine::consume_forever() {
  for (;;) {
    uint64_t records;
    {
      const std::lock_guard lock(consuming_);
      records = consume_round();
      update_progress();
    }
    if (records > Producer::kRingCapacity / 8) continue;
    const timespec pause{0, 100000};
    nanosleep(&pause, nullptr);
  }
}

uint64_t Engine::consume_round() {
  // The limit is taken first, then the list of rings and their ends: see epoch_merge.h. The ends
  // are read under the lock. So a thread that is not in the list yet has published no record that
  // the others' records could depend on.
  const uint64_t limit = shared_.epoch.fetch_add(1, std::memory_order_acq_rel) + 1;
  std::vector<events::MergeSource*> sources;
  uint64_t records = 0;
  {
    const std::lock_guard lock(registry_);
    for (auto& producer : producers_) {
      if (producer == nullptr) continue;
      events::MergeSource& source = producer->source();
      source.end = source.ring->published();
      records += source.end - source.cursor;
      sources.push_back(&source);
    }
  }
  const auto analyse = [this](base::ThreadId thread, std::span<const events::Record> part) {
    analysis_.consume(thread, part);
  };
  if (sources.size() == 1) {
    events::drain_single(*sources[0], analyse);
  } else {
    events::merge_round(std::span(sources), events::owner_key(limit), analyse);
    recycle_ended();
  }
  return records;
}

void Engine::recycle_ended() {
  const std::lock_guard lock(registry_);
  for (auto& producer : producers_) {
    if (producer == nullptr || !producer->ended.load(std::memory_order_acquire)) continue;
    const events::MergeSource& source = producer->source();
    if (source.ring->published() != source.cursor) continue;
    producer->ended.store(false, std::memory_order_relaxed);
    free_.push_back(base::index(producer->id()));
  }
}

void Engine::update_progress() {
  const auto now = Clock::now();
  if (now - last_progress_ < std::chrono::milliseconds(200)) return;
  last_progress_ = now;
  progress_.update(analysis_.objects_seen(), analysis_.accesses_seen(), instructions_,
                   elapsed_ns());
}

uint64_t Engine::elapsed_ns() const {
  return uint64_t(std::chrono::nanoseconds(Clock::now() - start_).count());
}

void Engine::write_part() {
  const SignalsBlocked blocked(kProgramSignals);
  const std::lock_guard lock(consuming_);
  // Records published by now carry an epoch below the second round's limit.
  consume_round();
  consume_round();
  progress_.update(analysis_.objects_seen(), analysis_.accesses_seen(), instructions_,
                   elapsed_ns());
  const std::lock_guard contexts_lock(contexts_.mutex());
  contexts_.read_mappings();
  record::write_part(options_.out, analysis_.finish(), contexts_,
                     {.producer = "qemu",
                      .pid = getpid(),
                      .seconds = double(elapsed_ns()) * 1e-9,
                      .instructions = instructions_ - instructions_at_start_,
                      .forked = forked_});
}

void Engine::abandon_all_but(const Producer* mine) {
  const events::Record end = events::Record::make(events::Kind::kThreadEnd, 0, 0);
  free_.clear();
  for (uint32_t at = 0; at < producers_.size(); ++at) {
    std::unique_ptr<Producer>& producer = producers_[at];
    if (producer != nullptr && producer.get() == mine) continue;
    if (producer != nullptr) analysis_.consume(producer->id(), {&end, 1});
    // Not destroyed: its thread may have been changing it.
    (void)producer.release();
    free_.push_back(at);
  }
}

void Engine::drop_events(Producer& mine) {
  mine.flush();
  const std::lock_guard lock(consuming_);
  // As in write_part().
  consume_round();
  consume_round();
  restart_counts();
}

void Engine::restart_counts() {
  analysis_.restart_counts();
  start_ = Clock::now();
  instructions_at_start_ = instructions_;
}

void Engine::before_fork() {
  consuming_.lock();
  registry_.lock();
  contexts_.mutex().lock();
}

void Engine::after_fork_in_parent() {
  contexts_.mutex().unlock();
  registry_.unlock();
  consuming_.unlock();
}

void Engine::after_fork_in_child(Producer* mine) {
  consumer_runs_ = false;  // started when it is needed: most children soon call exec
  forked_ = true;
  progress_.abandon();
  contexts_.mutex().unlock();
  registry_.unlock();
  // Records published before the fork are the parent's, but they determine the live objects. Two
  // rounds consume all of them, as in write_part(); the ring then has room for pending ones.
  consume_round();
  consume_round();
  if (mine != nullptr) mine->flush();
  consume_round();
  abandon_all_but(mine);
  restart_counts();
  consuming_.unlock();
}

}  // namespace halo::record
