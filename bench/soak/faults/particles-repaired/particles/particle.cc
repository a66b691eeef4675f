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

void delete_particle(Particle* particle) {
  delete particle->properties;
  delete particle;
}

void set_off(Particle* particle, Rng& rng) {
  if (particle->properties == nullptr) {
    particle->properties = new Properties;
  }
  Properties& properties = *particle->properties;
  properties.position = random_vector(rng);
  properties.velocity = random_vector(rng);
  properties.spin = random_vector(rng);
  properties.mass = rng_unit(&rng);
  properties.charge = rng_unit(&rng);
  properties.colour = rng_below(&rng, kColours);
  properties.emitter = rng_below(&rng, kEmitters);
}

double energy(const Particle* particle) {
  const Properties& properties = *particle->properties;
  return properties.mass * (square(properties.velocity) + square(properties.spin)) +
         properties.charge * properties.position.z;
}

uint32_t appearance(const Particle* particle) {
  const Properties& properties = *particle->properties;
  return properties.colour * kEmitters + properties.emitter;
}

}  // namespace particles
