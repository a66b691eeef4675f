// Writes a stream (stream_format.h).
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "studies/pollution/corun/stream_format.h"
#include "studies/pollution/corun/stream_words.h"

namespace halo::corun {

class StreamWriter {
 public:
  // The file is replaced. Throws std::system_error, as all members do, if it cannot be written.
  explicit StreamWriter(const std::string& path);

  // `line` and `owner` at most kMaxLine and kMaxOwner; `cycle` does not decrease.
  void add(RequestKind kind, uint32_t line, uint32_t owner, uint64_t cycle);

  // What of the head does not follow from the requests: `private_levels`, `line_bytes`,
  // `page_bytes`, `accesses`, `cycles`, `complete`. Owners have no requests yet.
  void finish(StreamHead head, std::vector<OwnerEntry> owners,
              const std::vector<uint64_t>& regions);

 private:
  static constexpr size_t kBuffered = 1 << 16;  // words

  struct Close {
    void operator()(FILE* file) const { fclose(file); }
  };

  void flush();
  void write(const void* data, size_t bytes);

  std::string path_;
  std::unique_ptr<FILE, Close> file_;
  std::vector<uint64_t> words_;
  std::vector<uint64_t> requests_of_;  // by owner
  uint64_t requests_ = 0;              // words
  uint64_t newest_ = 0;                // cycle
  uint32_t check_ = 0;
};

}  // namespace halo::corun
