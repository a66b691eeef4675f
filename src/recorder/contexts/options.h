// The arguments of the processes that write parts.
#pragma once

#include <span>
#include <string>

#include "recorder/analysis/parameters.h"

namespace halo::record {

struct Options {
  std::string out;  // parts are OUT.PID.json
  std::string progress;
  sinks::Parameters parameters;
  bool merge_repeats = true;
};

// Each argument is NAME=VALUE. On an error, prints it on stderr and returns false.
bool parse_options(std::span<char*> arguments, Options& options);

}  // namespace halo::record
