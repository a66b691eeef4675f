// One step of a block: collisions relax the populations of a cell towards equilibrium.
#include "lattice/block.h"

#include <bit>
#include <utility>

#include "common/checksum.h"

namespace lattice {

void Block::collide() {
  constexpr double kRelaxation = 0.1;
  const Populations& f = populations_;
  for (size_t cell = 0; cell < cells_; ++cell) {
    double density = 0;
    for (size_t direction = 0; direction < kDirections; ++direction) {
      density += f[direction][cell];
    }
    const double gain = kRelaxation * density;
    for (size_t direction = 0; direction < kDirections; ++direction) {
      double& population = f[direction][cell];
      population += gain * weight(direction) - kRelaxation * population;
    }
  }
}

void Block::exchange(Block& next) {
  for (size_t direction = 1; direction < kDirections; direction += 2) {
    std::swap(populations_[direction][cells_ - 1], next.populations_[direction + 1][0]);
  }
}

double Block::mass() const {
  double mass = 0;
  for (const double* population : populations_) {
    for (size_t cell = 0; cell < cells_; ++cell) {
      mass += population[cell];
    }
  }
  return mass;
}

uint64_t Block::checksum(uint64_t checksum) const {
  for (const double* population : populations_) {
    for (size_t cell = 0; cell < cells_; ++cell) {
      checksum = checksum_add(checksum, std::bit_cast<uint64_t>(population[cell]));
    }
  }
  return checksum;
}

}  // namespace lattice
