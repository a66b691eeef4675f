// One recorded process: turns the words of its engine into a part of the profile.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "channel/word.h"
#include "record/context_table.h"
#include "record/engine.h"
#include "record/output/progress.h"
#include "record/producer.h"
#include "sinks/analysis.h"

namespace halo::consumer {

// Consumes the words in order: the engine runs one thread at a time, so one channel suffices.
class ProcessRecorder {
 public:
  explicit ProcessRecorder(const record::Options& options);

  // Sets the process of the words; must precede them.
  void set_process(pid_t process) {
    process_ = process;
    analysis_.set_process(process);
  }
  // The number of instructions executed so far; 0 if not counted.
  void set_instructions(uint64_t count) { instructions_ = count; }
  // Consumes whole messages. Returns true if the last one announces a fork.
  bool consume(std::span<const uint64_t> words);
  // Called in the forked consumer, for the child of the recorded process. It keeps the live
  // objects, but counts only its own events.
  void continue_as_child();
  void update_progress();
  // Returns false if the part cannot be written.
  bool finish();

 private:
  void switch_to(uint32_t thread);
  size_t take(std::span<const uint64_t> words);
  void access(channel::Word word);
  void drain();
  uint64_t elapsed_ns() const;

  const record::Options options_;
  pid_t process_ = 0;
  uint64_t instructions_ = 0;
  bool forked_ = false;
  record::ContextTable contexts_;
  record::ProducerShared shared_;
  sinks::Analysis analysis_;
  record::ProgressFile progress_;
  std::vector<std::unique_ptr<record::Producer>> threads_;  // by number
  record::Producer* current_ = nullptr;
  uint64_t code_ = 0;  // of the next access
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace halo::consumer
