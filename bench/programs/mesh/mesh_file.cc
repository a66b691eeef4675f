// Makes the input: a rectangle of jittered points, two triangles a cell, in shuffled order.
#include <numeric>
#include <utility>

#include "common/rng.h"
#include "mesh/mesh.h"

namespace mesh {

namespace {

template <typename T>
void shuffle(std::vector<T>& items, Rng& rng) {
  for (auto left = static_cast<uint32_t>(items.size()); left > 1; --left) {
    std::swap(items[left - 1], items[rng_below(&rng, left)]);
  }
}

}  // namespace

MeshFile generate_file(uint32_t columns, uint32_t rows, uint64_t seed) {
  Rng rng{seed};
  std::vector<uint32_t> number(static_cast<size_t>(columns) * rows);
  std::iota(number.begin(), number.end(), 0u);
  shuffle(number, rng);

  MeshFile file;
  file.nodes.resize(number.size());
  for (uint32_t row = 0; row < rows; ++row) {
    for (uint32_t column = 0; column < columns; ++column) {
      const double x = column + 0.5 * rng_unit(&rng);
      const double y = row + 0.5 * rng_unit(&rng);
      file.nodes[number[row * columns + column]] = {x, y};
    }
  }
  for (uint32_t row = 0; row + 1 < rows; ++row) {
    for (uint32_t column = 0; column + 1 < columns; ++column) {
      const uint32_t corner = row * columns + column;
      const uint32_t top_left = number[corner];
      const uint32_t top_right = number[corner + 1];
      const uint32_t bottom_left = number[corner + columns];
      const uint32_t bottom_right = number[corner + columns + 1];
      file.triangles.push_back({top_left, top_right, bottom_left});
      file.triangles.push_back({top_right, bottom_right, bottom_left});
    }
  }
  shuffle(file.triangles, rng);
  return file;
}

}  // namespace mesh
