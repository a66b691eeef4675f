// Walks the list of particles.
#include "particles/cloud.h"

#include "common/checksum.h"

namespace particles {

Cloud::Cloud(uint32_t count, uint32_t longest_life, uint64_t seed)
    : rng_{mix64(seed)}, longest_life_(longest_life) {
  for (uint32_t i = 0; i < count; ++i) {
    first_ = make_particle(first_);
  }
  for (Particle* particle = first_; particle != nullptr; particle = particle->next) {
    begin(particle, 0);
  }
}

Cloud::~Cloud() {
  while (first_ != nullptr) {
    Particle* next = first_->next;
    delete_particle(first_);
    first_ = next;
  }
}

void Cloud::step(int64_t now) {
  for (Particle* particle = first_; particle != nullptr; particle = particle->next) {
    if (particle->ends == now) {
      end(particle);
      begin(particle, now);
    }
  }
}

void Cloud::begin(Particle* particle, int64_t now) {
  particle->ends = now + 1 + rng_below(&rng_, longest_life_);
  set_off(particle, rng_);
}

void Cloud::end(const Particle* particle) {
  ++tally_.ended;
  tally_.energy += energy(particle);
  tally_.checksum = checksum_add(tally_.checksum, appearance(particle));
}

}  // namespace particles
