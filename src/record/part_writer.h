// Writes one process's part of the profile (docs/profile-format.md).
#pragma once

#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

#include "record/context_table.h"
#include "sinks/analysis.h"

namespace halo::record {

struct PartInput {
  sinks::AnalysisResult result;
  const ContextTable& contexts;  // its mutex is held
  // By place in the simulation's list of code: the frame whose return address lies one byte behind.
  std::vector<uint32_t> code_frames{};
  double seconds;
  uint64_t instructions;
  const char* producer = "qemu";
  int pid = getpid();  // of the recorded process
};

bool has_activity(const sinks::AnalysisResult& result);

// Appears at `path` complete or not at all. Contexts without any activity, and what only they
// refer to, are left out. Says so on stderr and returns false where it cannot be written.
bool write_part_file(const std::string& path, const PartInput& input);

}  // namespace halo::record
