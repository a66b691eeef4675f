// A phase of the program: from the first to the last access by code of one function.
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
  void restart() { span_.reset(); }

  void access(uint64_t code, uint64_t position) {
    for (const AddressRange& range : ranges_) {
      if (!range.contains(code)) continue;
      if (!span_) span_ = {position, position};
      span_->last = position;
    }
  }
  // Where the code is or was.
  const std::vector<AddressRange>& places() const { return ranges_; }
  // Nothing if no access was by the function's code.
  const std::optional<Span>& span() const { return span_; }

 private:
  std::vector<AddressRange> ranges_;  // addresses, all different
  std::optional<Span> span_;
};

}  // namespace halo::sinks
