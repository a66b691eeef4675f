// How the graph allocates: each object by new.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

namespace pagerank {

template <typename T>
using Owner = std::unique_ptr<T>;

// What is allocated while it exists belongs to that node: a hint that is not used here.
class Place {
 public:
  explicit Place(uint32_t) {}
  ~Place() {}
};

template <typename T, typename... Arguments>
Owner<T> make(Arguments&&... arguments) {
  return std::make_unique<T>(std::forward<Arguments>(arguments)...);
}

}  // namespace pagerank
