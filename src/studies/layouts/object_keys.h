// The keys of objects that Tidy would place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "studies/layouts/object_facts.h"

namespace halo::layout {

// By allocation number; those behind the end have none.
using ObjectKeys = std::vector<std::optional<uint64_t>>;

// Reads the text that halo/studies/hints/object_keys.py writes: for each object its allocation
// number and its key, decimal and separated by white space, by ascending number. Throws
// std::runtime_error if the file cannot be read or has anything else.
ObjectKeys read_keys(const std::string& path);

// Reads the text of tidy_log.cc of bench/programs: for each object its recorded address, its size
// and its key, decimal, in order of allocation. An object is the first of its address and size
// after the one of the line before. Throws std::runtime_error if the file cannot be read or has
// anything else, or if an object is not in the trace.
ObjectKeys read_keys_by_address(const std::string& path, const std::vector<ObjectFacts>& facts);

}  // namespace halo::layout
