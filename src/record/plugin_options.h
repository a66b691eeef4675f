// The plugin's arguments, as given behind `-plugin FILE,`.
#pragma once

#include <span>

#include "record/engine.h"

namespace halo::record {

// Each argument is NAME=VALUE. Says on stderr what is wrong, and returns false.
bool parse_options(std::span<char*> arguments, Options& options);

}  // namespace halo::record
