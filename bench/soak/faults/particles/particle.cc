// Creates particles, and reads their properties.
#include "particles/particle.h"

namespace particles {
namespace {

constexpr uint32_t kColours = 256;
constexpr uint32_t kEmitters = 16;

Vector random_vector(Rng& rng) { return {rng_unit(&rng), rng_unit(&rng), rng_unit(&rng)}; }

double square(const Vector& vector) {
  return vector.x * vector.x + vector.y * vector.y + vector.z * vector.z;
}

}  // namespace

Particle* make_particle(Particle* next) {
  auto* particle = new Particle{};
  particle->next = next;
  return particle;
}

void delete_particle(Particle* particle) { delete particle; }

void set_off(Particle* particle, Rng& rng) {
  particle->position = random_vector(rng);
  particle->velocity = random_vector(rng);
  particle->spin = random_vector(rng);
  particle->mass = rng_unit(&rng);
  particle->charge = rng_unit(&rng);
  particle->colour = rng_below(&rng, kColours);
  particle->emitter = rng_below(&rng, kEmitters);
}

double energy(const Particle* particle) {
  return particle->mass * (square(particle->velocity) + square(particle->spin)) +
         particle->charge * particle->position.z;
}

uint32_t appearance(const Particle* particle) {
  return particle->colour * kEmitters + particle->emitter;
}

}  // namespace particles
