// Makes the stream of a program from its object trace.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "studies/pollution/corun/alone.h"
#include "studies/pollution/corun/program_replay.h"
#include "studies/pollution/corun/reuse_classes.h"
#include "studies/pollution/corun/stream_writer.h"
#include "studies/pollution/corun/watched_classes.h"
#include "studies/pollution/monitor/parameters.h"

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

// The last replay of a trace: writes the requests. The counters of a watch are those of the program
// alone, with the whole last level for itself.
class StreamRecorder final : public ReplayObserver {
 public:
  // `learnt` has seen earlier runs, until `before`. All must outlive the recorder.
  StreamRecorder(const StreamSettings& settings, const ReuseClasses& reuse, WatchedClasses& learnt,
                 const watch::Now& before, StreamWriter& writer);

  void follow(const ProgramReplay& replay) { replay_ = &replay; }
  void allocated(const objects::Allocation& one) override;
  void freed(uint64_t object) override {
    online_.free(object, now());
    learnt_.free(object, after(before_, now()));
  }
  void accessed(uint64_t object, uint32_t offset) override {
    online_.access(object, offset, now());
    learnt_.access(object, offset, after(before_, now()));
  }
  void requested(const Request& request) override;
  void passed() override {
    online_.pass(now());
    learnt_.pass(after(before_, now()));
  }

  StreamSummary finish(bool complete);

 private:
  watch::Now now() const { return alone_.now(replay_->cycles()); }
  uint32_t owner_of(uint64_t object);

  const StreamSettings& settings_;
  const ReuseClasses& reuse_;
  StreamWriter& writer_;
  const ProgramReplay* replay_ = nullptr;
  WatchedClasses online_;
  WatchedClasses& learnt_;
  watch::Now before_;
  Alone alone_;
  int region_bits_;                                            // of a line's number
  std::vector<uint32_t> contexts_;                             // by object
  std::vector<uint64_t> regions_;                              // by index, from 1 on
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> numbers_;  // by context and classes
  std::vector<OwnerEntry> owners_;
};

// Differs for machines whose streams cannot be mixed.
uint32_t check_of_private(const simulator::Machine& machine);

// Writes the stream of a trace to a file. Throws std::runtime_error with one sentence.
StreamSummary record_stream(const std::string& trace, const StreamSettings& settings,
                            const std::string& path);

}  // namespace halo::corun
