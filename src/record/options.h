// The plugin's arguments, those behind `-plugin FILE,`.
#pragma once

#include <span>

#include "record/engine.h"

namespace halo::record {

// Each argument is NAME=VALUE. On an error, prints it on stderr and returns false.
bool parse_options(std::span<char*> arguments, Options& options);

}  // namespace halo::record
