// A stream in memory (stream_format.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "studies/pollution/corun/stream_format.h"
#include "studies/pollution/corun/stream_words.h"

namespace halo::corun {

struct Stream {
  StreamHead head{};
  std::vector<uint64_t> requests;
  std::vector<OwnerEntry> owners;
  std::vector<uint64_t> regions;
};

// Reads and checks a whole file. Throws std::runtime_error with one sentence, without the file's
// name, for a file that is missing, damaged, newer or not a stream.
Stream read_stream(const std::string& path);

// Of all bytes of a head before its own checksum.
uint32_t head_check_of(const StreamHead& head);

}  // namespace halo::corun
