// Reads the keys of objects.
#include "studies/layouts/object_keys.h"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <stdexcept>

#include "studies/layouts/lifetimes.h"

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

ObjectKeys read_keys_by_address(const std::string& path, const std::vector<ObjectFacts>& facts) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("the keys of its objects cannot be read");
  const std::vector<LifeEvent> events = lifetimes(facts);
  auto next = events.begin();
  ObjectKeys found(facts.size());
  uint64_t address = 0, size = 0, key = 0;
  while (file >> address >> size >> key) {
    next = std::find_if(next, events.end(), [&](const LifeEvent& event) {
      const ObjectFacts& one = facts[event.number];
      return !event.is_death && one.address == address && one.size == size;
    });
    if (next == events.end()) throw std::runtime_error("an object with a key is not in the trace");
    found[next++->number] = key;
  }
  if (!file.eof()) throw std::runtime_error("the keys of its objects are damaged");
  return found;
}

}  // namespace halo::layout
