// Writes one process's part of the profile (docs/profile-format.md).
#pragma once

#include <cstdint>
#include <string>

#include "record/context_table.h"
#include "sinks/analysis.h"

namespace halo::record {

// What the part says of the recorded process.
struct RecordedRun {
  const char* producer;
  int pid;
  double seconds;
  uint64_t instructions = 0;  // 0: they were not counted
  bool forked = false;        // from another recorded process
};

// Leaves `PREFIX.<pid>.json`, complete or not at all. Contexts without any activity, and what only
// they refer to, are left out. So is the part of a forked child that did nothing: it most likely
// called exec. The mutex of `contexts` is held. Says so on stderr and returns false where the part
// cannot be written.
bool write_part(const std::string& prefix, sinks::AnalysisResult result, ContextTable& contexts,
                const RecordedRun& run);

}  // namespace halo::record
