// The modules of this process.
#pragma once

#include <cstdint>
#include <vector>

namespace halo::fuzz {

// The build-ids of all modules that have one.
std::vector<std::vector<uint8_t>> all_build_ids();

}  // namespace halo::fuzz
