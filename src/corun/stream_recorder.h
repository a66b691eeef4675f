// Makes the stream of a program from its object trace.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "corun/last_level.h"
#include "corun/program_replay.h"
#include "corun/reuse_classes.h"
#include "corun/stream_writer.h"
#include "corun/watched_classes.h"
#include "watch/parameters.h"

namespace halo::corun {

struct StreamSettings {
  simulator::Machine machine;
  watch::Parameters watch;
  double megahertz = 2130;      // of the modelled cycles: the paper's machine
  uint64_t limit = UINT64_MAX;  // accesses
};

// The program alone, with the whole last level for itself.
struct StreamSummary {
  uint64_t accesses = 0;
  uint64_t cycles = 0;
  uint64_t requests = 0;  // for lines, without write-backs
  uint64_t misses = 0;    // of them
  bool complete = false;
  watch::Monitor::Counts watch;
};

// The second replay of a trace: writes the requests. The counters of the watch are those of the
// program alone, with the whole last level for itself.
class StreamRecorder final : public ReplayObserver {
 public:
  // All must outlive the recorder, and `replay` calls it.
  StreamRecorder(const StreamSettings& settings, const ReuseClasses& reuse, StreamWriter& writer);

  void follow(const ProgramReplay& replay) { replay_ = &replay; }
  void allocated(const objects::Allocation& one) override;
  void freed(uint64_t object) override { watched_.free(object, now()); }
  void accessed(uint64_t object, uint32_t offset) override {
    watched_.access(object, offset, now());
  }
  void requested(const Request& request) override;
  void passed() override { watched_.pass(now()); }

  StreamSummary finish(bool complete);

 private:
  uint64_t cycles() const { return replay_->cycles() + waits_.cycles(); }
  watch::Now now() const { return {uint64_t(double(cycles()) / settings_.megahertz), counters_}; }
  uint32_t owner_of(uint64_t object);

  const StreamSettings& settings_;
  const ReuseClasses& reuse_;
  StreamWriter& writer_;
  const ProgramReplay* replay_ = nullptr;
  WatchedClasses watched_;
  LastLevel last_level_;
  Waits waits_;
  int region_bits_;  // of a line's number
  watch::Counters counters_;
  std::vector<uint32_t> contexts_;  // by object
  std::vector<uint64_t> regions_;   // by index, from 1 on
  std::map<std::tuple<uint32_t, uint8_t, uint8_t, uint8_t>, uint32_t> numbers_;
  std::vector<OwnerEntry> owners_;
};

// Differs for machines whose streams cannot be mixed.
uint32_t check_of_private(const simulator::Machine& machine);

// Writes the stream of a trace to a file. Throws std::runtime_error with one sentence.
StreamSummary record_stream(const std::string& trace, const StreamSettings& settings,
                            const std::string& path);

}  // namespace halo::corun
