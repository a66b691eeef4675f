// How the variant of the mesh allocates: each object near others of the same place.
#pragma once

#include <cstdint>

#include "common/tidy.h"

namespace mesh {

using variant::make;
using variant::Owner;

inline variant::Objects& objects() {
  static variant::Objects all(2);
  return all;
}

// What is allocated while it exists belongs to that point.
class Place {
 public:
  Place(double x, double y) : scope_(objects(), {element(x), element(y)}) {}

 private:
  static constexpr double kExtent = 1024;  // for fixed cells; the mesh is smaller
  static constexpr double kStep = 1.0 / 64;
  static constexpr auto kValues = static_cast<uint32_t>(kExtent / kStep);

  static unsigned element(double coordinate) {
    return objects().element(static_cast<uint32_t>(coordinate / kStep), kValues);
  }

  variant::Scope scope_;
};

}  // namespace mesh
