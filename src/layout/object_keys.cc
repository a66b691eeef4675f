// Reads the keys of objects.
#include "layout/object_keys.h"

#include <cstddef>
#include <fstream>
#include <stdexcept>

namespace halo::layout {

ObjectKeys read_keys(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("the keys of its objects cannot be read");
  ObjectKeys found;
  uint64_t number = 0, key = 0;
  while (file >> number >> key) {
    if (number < found.size() || number > UINT32_MAX)
      throw std::runtime_error("the keys of its objects are damaged");
    found.resize(size_t(number) + 1);
    found[number] = key;
  }
  if (!file.eof()) throw std::runtime_error("the keys of its objects are damaged");
  return found;
}

}  // namespace halo::layout
