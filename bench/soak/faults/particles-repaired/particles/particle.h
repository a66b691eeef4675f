// A particle: a member of the list that every step walks; its properties are elsewhere.
#pragma once

#include <cstdint>

#include "common/rng.h"

namespace particles {

struct Vector {
  double x, y, z;
};

struct Properties {
  Vector position;
  Vector velocity;
  Vector spin;
  double mass;
  double charge;
  uint32_t colour;
  uint32_t emitter;
};

struct Particle {
  Particle* next;
  int64_t ends;            // the step at which it ends
  Properties* properties;  // null until it is set off
};

// Not yet set off: nothing but its place in the list.
Particle* make_particle(Particle* next);
void delete_particle(Particle* particle);
// Draws all that the particle is like; an ended one may be set off again.
void set_off(Particle* particle, Rng& rng);
// Its motion and its appearance.
double energy(const Particle* particle);
uint32_t appearance(const Particle* particle);

}  // namespace particles
