// All particles: a list that each step of time walks, to find those that end.
#pragma once

#include <cstdint>

#include "common/rng.h"
#include "particles/particle.h"

namespace particles {

// The remains of the particles that have ended.
struct Tally {
  double energy = 0;
  uint64_t ended = 0;
  uint64_t checksum = 0;
};

class Cloud {
 public:
  Cloud(uint32_t count, uint32_t longest_life, uint64_t seed);
  ~Cloud();
  Cloud(const Cloud&) = delete;
  Cloud& operator=(const Cloud&) = delete;

  // Sets every particle off again that ends at this step.
  void step(int64_t now);
  const Tally& tally() const { return tally_; }

 private:
  void begin(Particle* particle, int64_t now);
  void end(const Particle* particle);

  Rng rng_;
  uint32_t longest_life_;
  Particle* first_ = nullptr;
  Tally tally_;
};

}  // namespace particles
