// Writes one process's part of the profile (docs/profile-format.md).
#pragma once

#include <cstdint>
#include <string>

#include "recorder/analysis/analysis.h"
#include "recorder/contexts/context_table.h"

namespace halo::record {

// The properties of the recorded process in its part.
struct RecordedRun {
  const char* producer;
  int pid;
  double seconds;
  uint64_t instructions = 0;  // 0: not counted
  bool forked = false;        // from another recorded process
};

// Writes `PREFIX.<pid>.json`, completely or not at all. Contexts without activity are left out,
// with all that only they refer to. The part of an inactive forked child is left out as well: it
// most likely called exec. On failure, prints an error on stderr and returns false.
bool write_part(const std::string& prefix, const sinks::AnalysisResult& result,
                ContextTable& contexts, const RecordedRun& run);

}  // namespace halo::record
