// A phase of the program: from the first to the last access by code of one function, or between the
// first entry into it and the last exit.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory_map.h"

namespace halo::sinks {

// Where a function's code is: ranges of offsets in a file that the process has mapped.
struct PhaseCode {
  std::string path;
  std::vector<AddressRange> ranges;
};

// BEGIN-END+BEGIN-END@PATH, in hexadecimal; nothing if the text is not that.
std::optional<PhaseCode> parse_phase(std::string_view text);

// Counts accesses of the whole program from 0 on.
class Phase {
 public:
  struct Span {
    uint64_t first, last;  // accesses
  };

  // Finds the code in the memory map of a process. Places that were found before still count.
  void locate(const PhaseCode& code, pid_t process);
  // Forgets what was accessed, but not where the code is.
  void restart() { first_.reset(); }

  void access(uint64_t code, uint64_t position) {
    for (const AddressRange& range : ranges_) {
      if (!range.contains(code)) continue;
      begin(position);
      end_ = position + 1;
    }
  }
  // The function is entered before the access at `position`, or was left before it. Until the exit,
  // all accesses are in the phase.
  void enter(uint64_t position) {
    begin(position);
    end_ = UINT64_MAX;
  }
  void leave(uint64_t position) { end_ = position; }
  // Where the code is or was.
  const std::vector<AddressRange>& places() const { return ranges_; }
  // Nothing if none of the `accesses` so far is in the phase.
  std::optional<Span> span(uint64_t accesses) const {
    const uint64_t end = std::min(end_, accesses);
    return first_ && *first_ < end ? std::optional(Span{*first_, end - 1}) : std::nullopt;
  }

 private:
  void begin(uint64_t position) {
    if (!first_) first_ = position;
  }

  std::vector<AddressRange> ranges_;  // addresses, all different
  std::optional<uint64_t> first_;     // access
  uint64_t end_ = 0;                  // one past the last access
};

}  // namespace halo::sinks
