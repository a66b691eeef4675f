// Turns the words of the Valgrind engine into a part of the profile.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "recorder/channel/word.h"
#include "recorder/consumer/process_part.h"
#include "recorder/contexts/producer.h"

namespace halo::consumer {

// Consumes the words in order: the engine runs one thread at a time, so one channel suffices.
class ProcessRecorder {
 public:
  explicit ProcessRecorder(const record::Options& options);

  ProcessPart& part() { return part_; }

  // Consumes whole messages. Returns true if the last one announces a fork.
  bool consume(std::span<const uint64_t> words);
  // Called in the forked consumer, for the child of the recorded process. It keeps the live
  // objects, but counts only its own events.
  void continue_as_child();
  // Returns false if the part cannot be written.
  bool finish();

 private:
  void switch_to(uint32_t thread);
  size_t take(std::span<const uint64_t> words);
  void access(channel::Word word);
  void drain();

  ProcessPart part_;
  record::ProducerShared shared_;
  std::vector<std::unique_ptr<record::Producer>> threads_;  // by number
  record::Producer* current_ = nullptr;
  uint64_t code_ = 0;  // of the next access
};

}  // namespace halo::consumer
