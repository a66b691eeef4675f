// The recorder without QEMU: owns the producers, merges and analyses their records on a thread of
// its own, and leaves the part file.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "record/context_table.h"
#include "record/producer.h"
#include "record/progress.h"
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

  // A thread of the recorded program begins; it calls end_thread() from the same thread.
  Producer& begin_thread();
  void end_thread(Producer& producer);

  const ProducerShared& shared() const { return shared_; }
  ContextTable& contexts() { return contexts_; }
  // Added to by translated code, not atomically.
  uint64_t* instruction_counter() { return &instructions_; }

  // Analyses all that has been published and writes the part; may be called again later.
  void write_part();

  // What was recorded until now is to count for nothing; what is live stays. By the thread of
  // `mine`.
  void forget_so_far(Producer& mine);

  // Around a fork of the recorded program, in the forking thread.
  void before_fork();
  void after_fork_in_parent();
  // The child keeps the live objects but counts only what it does itself. `mine`: the one thread
  // that is left, if it has a producer.
  void after_fork_in_child(Producer* mine);

 private:
  void ensure_consumer();
  void consume_forever();
  // Returns how many records there were. Needs consuming_.
  uint64_t consume_round();
  void recycle_ended();
  // In a forked child: the other threads are gone, their places are free.
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
  std::vector<std::unique_ptr<Producer>> producers_;  // by thread; null only where free
  std::vector<uint32_t> free_;                        // each place at most once

  std::mutex consuming_;  // guards what follows
  sinks::Analysis analysis_;
  std::chrono::steady_clock::time_point last_progress_ = start_;
  std::atomic<bool> consumer_runs_{false};
};

}  // namespace halo::record
