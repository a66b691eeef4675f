// Allocates and frees the arrays of a block.
#include "lattice/populations.h"

#include <cstdlib>
#include <utility>

#include "common/memory.h"

namespace lattice {

namespace {

template <size_t direction>
[[gnu::noinline]] double* make_population(size_t cells, Rng& rng) {
  auto* values = static_cast<double*>(require_memory(std::malloc(cells * sizeof(double))));
  for (size_t i = 0; i < cells; ++i) {
    // The direction itself is used, so that no two of these functions are the same code.
    values[i] = weight(direction) * (1.0 + rng_unit(&rng) / (direction + 2));
  }
  return values;
}

template <size_t... directions>
Populations make_each(size_t cells, Rng& rng, std::index_sequence<directions...>) {
  return {make_population<directions>(cells, rng)...};
}

}  // namespace

Populations make_populations(size_t cells, Rng& rng) {
  return make_each(cells, rng, std::make_index_sequence<kDirections>());
}

void free_populations(const Populations& populations) {
  for (double* population : populations) {
    std::free(population);
  }
}

}  // namespace lattice
