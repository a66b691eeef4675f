// The types of objects, which an object trace lacks and a type-aware trace has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace halo::layout {

struct ObjectType {
  uint32_t type = 0;     // types are numbered from 1, by their first allocation; 0: not known
  bool in_graph = true;  // whether the object's accesses pair in the access graph
};

// By allocation number; those behind the end have the default.
using ObjectTypes = std::vector<ObjectType>;

// Reads the text that halo/studies/layouts/object_types.py writes: for each object its allocation
// number, its type and 1 or 0 for `in_graph`, decimal and separated by white space, by ascending
// number. Throws std::runtime_error if the file cannot be read or has anything else.
ObjectTypes read_types(const std::string& path);

}  // namespace halo::layout
