// How the mesh allocates: each object by new.
#pragma once

#include <memory>
#include <utility>

namespace mesh {

template <typename T>
using Owner = std::unique_ptr<T>;

// What is allocated while it exists belongs to that point: a hint that is not used here.
class Place {
 public:
  Place(double, double) {}
  ~Place() {}
};

template <typename T, typename... Arguments>
Owner<T> make(Arguments&&... arguments) {
  return std::make_unique<T>(std::forward<Arguments>(arguments)...);
}

}  // namespace mesh
