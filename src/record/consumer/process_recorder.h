// One recorded process: what its engine writes into the channel becomes a part of the profile.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "record/channel/word.h"
#include "record/context_table.h"
#include "record/engine.h"
#include "record/producer.h"
#include "record/progress.h"
#include "sinks/analysis.h"

namespace halo::record::consumer {

// Takes the words in their order: the engine runs one thread at a time, so there is only one.
class ProcessRecorder {
 public:
  explicit ProcessRecorder(const Options& options);

  // Whose words these are: before the first of them.
  void set_process(pid_t process) { process_ = process; }
  // How many it has executed so far; 0 where they are not counted.
  void set_instructions(uint64_t count) { instructions_ = count; }
  // Takes whole messages. True where the last one says that the process is about to fork.
  bool consume(std::span<const uint64_t> words);
  // In the child of a fork of the consumer, for the child of the recorded process: it keeps the
  // live objects, but counts only what it does itself.
  void continue_as_child();
  void update_progress();
  // False where the part cannot be written.
  bool finish();

 private:
  void switch_to(uint32_t thread);
  size_t take(std::span<const uint64_t> words);
  void access(channel::Word word);
  void drain();
  uint64_t elapsed_ns() const;

  const Options options_;
  pid_t process_ = 0;
  uint64_t instructions_ = 0;
  bool forked_ = false;
  ContextTable contexts_;
  ProducerShared shared_;
  sinks::Analysis analysis_;
  ProgressFile progress_;
  std::vector<std::unique_ptr<Producer>> threads_;  // by number
  Producer* current_ = nullptr;
  uint64_t code_ = 0;  // of the access that comes next
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace halo::record::consumer
