// scene: parses a scene description and renders it from many points, after HALO, figure 2.
#include <bit>
#include <cinttypes>
#include <cstdio>

#include "common/args.h"
#include "common/checksum.h"
#include "common/rng.h"
#include "scene/parser.h"

namespace {

struct View {
  float distance;
  uint32_t material;
};

// The nearest shape of the scene, as seen from the point.
View look(const scene::ShapeList& shapes, const scene::Vector& point) {
  View view{1e30f, 0};
  for (const scene::Shape* shape = shapes.first(); shape != nullptr; shape = shape->sibling) {
    const float distance = shape->distance(point);
    if (distance < view.distance) {
      view = {distance, shape->material()};
    }
  }
  return view;
}

uint64_t checksum_of(const scene::Notes& notes) {
  constexpr int kNotesRead = 1000;
  uint64_t checksum = notes.count();
  const scene::Note* note = notes.last();
  for (int i = 0; i < kNotesRead && note != nullptr; ++i, note = note->previous) {
    for (const char character : note->text()) {
      checksum = checksum_add(checksum, static_cast<unsigned char>(character));
    }
  }
  return checksum;
}

}  // namespace

int main(int argc, char** argv) {
  Argument arguments[] = {
      {"statements", 0, 100000000, 0}, {"looks", 0, 1000000, 0}, {"seed", 0, 1 << 30, 0}};
  read_arguments(argc, argv, arguments, 3);
  const auto seed = static_cast<uint64_t>(arguments[2].value);

  scene::TokenStream tokens(seed);
  scene::Scene scene;
  scene::Parser(tokens, scene).parse(static_cast<uint32_t>(arguments[0].value));

  Rng rng{mix64(seed)};
  uint64_t checksum = checksum_of(scene.comments) ^ checksum_of(scene.origins);
  for (long i = 0; i < arguments[1].value; ++i) {
    const auto coordinate = [&rng] { return static_cast<float>(8 * rng_unit(&rng) - 4); };
    const float x = coordinate();
    const float y = coordinate();
    const View view = look(scene.shapes, {x, y, coordinate()});
    checksum = checksum_add(checksum, std::bit_cast<uint32_t>(view.distance));
    checksum = checksum_add(checksum, view.material);
  }
  std::printf("scene: %zu objects, %zu comments, %zu errors\nchecksum %016" PRIx64 "\n",
              scene.origins.count(), scene.comments.count(), scene.errors, checksum);
  return 0;
}
