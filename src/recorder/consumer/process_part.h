// What is known of a recorded process: its contexts and analyses, which become a part of the
// profile.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>

#include "recorder/analysis/analysis.h"
#include "recorder/contexts/context_table.h"
#include "recorder/contexts/options.h"
#include "recorder/contexts/output/progress.h"

namespace halo::consumer {

class ProcessPart {
 public:
  // `producer`: the engine's name in the part. `of_recorder` tells the engine's own modules.
  ProcessPart(const record::Options& options, const char* producer,
              bool (*of_recorder)(const MapsLine&));

  // Must precede all events.
  void set_process(pid_t process) {
    process_ = process;
    analysis_.set_process(process);
  }
  // The number of instructions executed so far; 0 if not counted.
  void set_instructions(uint64_t count) { instructions_ = count; }

  pid_t process() const { return process_; }
  record::ContextTable& contexts() { return contexts_; }
  sinks::Analysis& analysis() { return analysis_; }

  // Drops all counts; live objects remain.
  void restart_counts();
  // In the forked consumer, for the child of the recorded process.
  void continue_as_child();
  void update_progress();
  // Returns false if the part cannot be written.
  bool finish();

 private:
  uint64_t elapsed_ns() const;

  const record::Options options_;
  const char* const producer_;
  pid_t process_ = 0;
  uint64_t instructions_ = 0;
  bool forked_ = false;
  record::ContextTable contexts_;
  sinks::Analysis analysis_;
  record::ProgressFile progress_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace halo::consumer
