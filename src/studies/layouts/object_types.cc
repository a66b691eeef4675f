// Reads the types of objects.
#include "studies/layouts/object_types.h"

#include <cstddef>
#include <fstream>
#include <stdexcept>

namespace halo::layout {

ObjectTypes read_types(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("the types of its objects cannot be read");
  ObjectTypes found;
  uint64_t number = 0;
  uint32_t type = 0, in_graph = 0;
  while (file >> number >> type >> in_graph) {
    if (number < found.size() || number > UINT32_MAX || in_graph > 1)
      throw std::runtime_error("the types of its objects are damaged");
    found.resize(size_t(number) + 1);
    found[number] = {type, in_graph == 1};
  }
  if (!file.eof()) throw std::runtime_error("the types of its objects are damaged");
  return found;
}

}  // namespace halo::layout
