// Random numbers of tests.
#pragma once

#include <cstdint>
#include <random>

namespace halo::sinks {

inline uint32_t below(uint32_t end, std::mt19937& random) { return uint32_t(random()) % end; }

}  // namespace halo::sinks
