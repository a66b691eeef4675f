// mesh: a walk along the least visited triangles of a mesh, after Miucin, section 3.5.
#include <bit>
#include <cinttypes>
#include <cstdio>

#include "common/args.h"
#include "common/checksum.h"
#include "common/phase.h"
#include "mesh/mesh.h"

namespace {

// The first of the least visited ones; a triangle of a mesh has at least one neighbour.
mesh::Triangle& least_visited_neighbour(const mesh::Triangle& triangle) {
  mesh::Triangle* minimum = nullptr;
  for (mesh::Triangle* neighbour : triangle.neighbours) {
    if (neighbour != nullptr && (minimum == nullptr || neighbour->visits < minimum->visits)) {
      minimum = neighbour;
    }
  }
  return *minimum;
}

struct Sum {
  double x = 0;
  double y = 0;
};

void touch_points(Sum& sum, const mesh::Triangle& triangle) {
  for (const mesh::Node* point : triangle.points) {
    sum.x += point->x;
    sum.y += point->y;
  }
}

// Not inlined: it is a phase for `halo study layout --phase`.
[[gnu::noinline]] Sum walk(mesh::Mesh& mesh, long steps) {
  const Phase phase("traversal");
  Sum sum;
  mesh::Triangle* triangle = &mesh.first_triangle();
  while (steps-- > 0) {
    mesh::Triangle& next = least_visited_neighbour(*triangle);
    ++triangle->visits;
    triangle = &next;
    touch_points(sum, *triangle);
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  Argument arguments[] = {{"columns", 2, 20000, 0},
                          {"rows", 2, 20000, 0},
                          {"steps", 0, 1000000000, 0},
                          {"seed", 0, 1 << 30, 0}};
  read_arguments(argc, argv, arguments, 4);

  mesh::Mesh mesh(mesh::generate_file(static_cast<uint32_t>(arguments[0].value),
                                      static_cast<uint32_t>(arguments[1].value),
                                      static_cast<uint64_t>(arguments[3].value)));
  const Sum sum = walk(mesh, arguments[2].value);
  uint64_t visited = 0;
  uint64_t checksum = checksum_add(std::bit_cast<uint64_t>(sum.x), std::bit_cast<uint64_t>(sum.y));
  for (const auto& triangle : mesh.triangles()) {
    visited += triangle->visits > 0;
    checksum = checksum_add(checksum, triangle->visits);
  }
  std::printf("mesh: %" PRIu64 " of %zu triangles visited\nchecksum %016" PRIx64 "\n", visited,
              mesh.triangles().size(), checksum);
  return 0;
}
