// The recorder without QEMU: owns the producers, merges and analyses their records in its own
// thread, and writes the part file.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "record/context_table.h"
#include "record/output/progress.h"
#include "record/producer.h"
#include "sinks/analysis.h"

namespace halo::record {

struct Options {
  std::string out;  // parts are OUT.PID.json
  std::string progress;
  sinks::Parameters parameters;
  bool merge_repeats = true;
};

class Engine {
 public:
  explicit Engine(const Options& options);

  // A thread of the recorded program begins; it must call end_thread() from the same thread.
  Producer& begin_thread();
  void end_thread(Producer& producer);

  const ProducerShared& shared() const { return shared_; }
  ContextTable& contexts() { return contexts_; }
  // Translated code adds to it, not atomically.
  uint64_t* instruction_counter() { return &instructions_; }

  // Analyses all published records and writes the part. May be called again later.
  void write_part();

  // Drops the counts of all events so far; live objects remain. Called by the thread of `mine`.
  void drop_events(Producer& mine);

  // Called around a fork of the recorded program, in the forking thread.
  void before_fork();
  void after_fork_in_parent();
  // The child keeps the live objects but counts only its own events. `mine`: the producer of the
  // remaining thread, or null.
  void after_fork_in_child(Producer* mine);

 private:
  void ensure_consumer();
  void consume_forever();
  // Returns the number of records consumed. Requires consuming_.
  uint64_t consume_round();
  void recycle_ended();
  // In a forked child: the other threads do not exist, so their slots are free.
  void abandon_all_but(const Producer* mine);
  void update_progress();
  uint64_t elapsed_ns() const;
  void restart_counts();

  const Options options_;
  ContextTable contexts_;
  ProducerShared shared_;
  ProgressFile progress_;
  uint64_t instructions_ = 0;
  uint64_t instructions_at_start_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool forked_ = false;

  std::mutex registry_;                               // guards the two lists
  std::vector<std::unique_ptr<Producer>> producers_;  // by thread; null only for free slots
  std::vector<uint32_t> free_;                        // each slot at most once

  std::mutex consuming_;  // guards the following members
  sinks::Analysis analysis_;
  std::chrono::steady_clock::time_point last_progress_ = start_;
  std::atomic<bool> consumer_runs_{false};
};

}  // namespace halo::record
