// The plugin's arguments, as given behind `-plugin FILE,`.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "record/engine.h"

namespace halo::record {

// Each argument is NAME=VALUE. Says on stderr what is wrong, and returns false.
bool parse_options(std::span<char*> arguments, Options& options);

// `this`, or a file that describes a machine. The same.
bool read_machine(std::string_view value, std::optional<simulator::Machine>& machine);

}  // namespace halo::record
