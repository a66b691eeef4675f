// A small machine, and a program with objects of several contexts, as a stream on disk.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "base/random.h"
#include "simulator/hierarchy.h"
#include "studies/pollution/corun/stream.h"
#include "studies/pollution/corun/stream_recorder.h"

namespace halo::corun {

// A last level of 64 KiB: 4 colours.
inline simulator::Machine small_machine(bool prefetches) {
  simulator::Machine machine;
  machine.caches = {{"L1", {16, 2}, 0}, {"L2", {32, 4}, 12}, {"L3", {256, 4}, 45}};
  machine.tlbs = {{"TLB", {4, 4}, 0}};
  machine.next_line = machine.streams = prefetches;
  return machine;
}

inline StreamSettings settings_for(const simulator::Machine& machine) {
  StreamSettings settings{.machine = machine, .watch = {}};
  settings.watch.open_lines = 1024;
  settings.watch.restrict_lines = 128;
  settings.watch.pause_us = settings.watch.period_us = 1;
  return settings;
}

// Accesses that a program makes: to objects or outside them, to one line or two, in a row or not.
template <class Visitor>
void run_program(Visitor& program, uint64_t seed, int accesses) {
  constexpr uint64_t kObjects = 60, kBytes = 5000, kBase = 0x7f0000000000;
  base::Random random(seed);
  const base::ThreadId thread{0};
  for (uint64_t number = 1; number <= kObjects; ++number)
    program.allocate({number, kBase + number * kBytes, uint32_t(kBytes - number % 3 * 30),
                      base::ContextId(uint32_t(number % 4))});
  uint64_t next = 0;
  for (int at = 0; at < accesses; ++at) {
    const auto size = uint32_t(1 + random.below(16));
    const bool store = random.below(3) == 0;
    const uint64_t offset = random.below(kBytes - 200);
    switch (random.below(4)) {
      case 0:
        program.access_outside(thread, kBase - 8192 + offset, size, store);
        break;
      case 1:
        program.access(thread, 1 + random.below(kObjects / 4), uint32_t(offset), size, store);
        break;
      case 2:
        program.access(thread, 1 + random.below(kObjects), uint32_t(offset), size, store);
        program.repeat(thread, 3);
        break;
      default:
        next = (next + 24) % (kObjects * 4096);
        program.access(thread, 1 + next / 4096, uint32_t(next % 4096), 8, store);
    }
  }
  program.free(kObjects);
}

class TemporaryFile {
 public:
  TemporaryFile() {
    char name[] = "/tmp/halo-corun-XXXXXX";
    const int descriptor = mkstemp(name);
    if (descriptor >= 0) close(descriptor);
    path_ = name;
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// `run(visitor)` makes the accesses, each time the same.
template <class Run>
StreamSummary write_stream(const StreamSettings& settings, const Run& run,
                           const std::string& path) {
  ReuseClasses reuse(settings.watch.restrict_lines, settings.watch.open_lines, 0.9);
  ProgramReplay first(settings.machine, UINT64_MAX, reuse);
  run(first);
  StreamWriter writer(path);
  WatchedClasses learnt(settings.watch);
  StreamRecorder recorder(settings, reuse, learnt, {}, writer);
  ProgramReplay second(settings.machine, UINT64_MAX, recorder);
  recorder.follow(second);
  run(second);
  return recorder.finish(true);
}

inline StreamSummary write_program(const StreamSettings& settings, uint64_t seed, int accesses,
                                   const std::string& path) {
  return write_stream(settings, [&](auto& visitor) { run_program(visitor, seed, accesses); }, path);
}

template <class Run>
Stream stream_of(const StreamSettings& settings, const Run& run) {
  const TemporaryFile file;
  write_stream(settings, run, file.path());
  return read_stream(file.path());
}

inline Stream stream_of_program(const StreamSettings& settings, uint64_t seed, int accesses) {
  return stream_of(settings, [&](auto& visitor) { run_program(visitor, seed, accesses); });
}

}  // namespace halo::corun
