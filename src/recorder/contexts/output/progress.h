// The progress file: a few numbers that a reader may map while a recording runs.
#pragma once

#include <cstdint>
#include <string>

namespace halo::record {

// Little-endian, at offset 0 of the file. `magic` is written last. Only the first process of a
// recording writes it; docs/recorder.md describes it for other readers.
struct Progress {
  static constexpr uint64_t kMagic = 0x31474F52504F4C48;  // "HLOPROG1" as bytes

  uint64_t magic;
  uint64_t objects;   // tracked allocations
  uint64_t accesses;  // access records consumed by the sinks
  uint64_t instructions;
  uint64_t elapsed_ns;
};

class ProgressFile {
 public:
  // Does nothing if the path is empty or the file cannot be created.
  explicit ProgressFile(const std::string& path);
  void update(uint64_t objects, uint64_t accesses, uint64_t instructions, uint64_t elapsed_ns);
  // Called in a forked child: the file belongs to the parent.
  void abandon() { mapped_ = nullptr; }

 private:
  volatile Progress* mapped_ = nullptr;
};

}  // namespace halo::record
