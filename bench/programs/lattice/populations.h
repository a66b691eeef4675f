// The populations of a D3Q19 lattice: how many particles of a cell move in each direction.
#pragma once

#include <array>
#include <cstddef>

#include "common/rng.h"

namespace lattice {

constexpr size_t kDirections = 19;

// At rest, along the 6 axes, along the 12 diagonals.
constexpr double weight(size_t direction) {
  return direction == 0 ? 1.0 / 3.0 : direction <= 6 ? 1.0 / 18.0 : 1.0 / 36.0;
}

// Each array has one value for each cell of a block.
using Populations = std::array<double*, kDirections>;

// Every array is allocated at a call site of its own.
Populations make_populations(size_t cells, Rng& rng);
void free_populations(const Populations& populations);

}  // namespace lattice
