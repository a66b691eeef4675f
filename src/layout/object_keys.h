// The keys of objects that Tidy would place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace halo::layout {

// By allocation number; those behind the end have none.
using ObjectKeys = std::vector<std::optional<uint64_t>>;

// Reads the text that halo/hints/object_keys.py writes: for each object its allocation number and
// its key, decimal and separated by white space, by ascending number. Throws std::runtime_error if
// the file cannot be read or has anything else.
ObjectKeys read_keys(const std::string& path);

}  // namespace halo::layout
