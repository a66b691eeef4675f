// Traces and sections for the trace fuzzer, some of them changed.
#pragma once

#include <string>

#include "fuzz/driver.h"

namespace halo::fuzz {

// A valid trace with every kind of frame; its sections may be arbitrary.
std::string make_trace(Random& random);
// The sections of a module: the lengths of sites and types in 4 bytes each, then all bytes.
std::string make_sections(Random& random);
// Flips bits, and changes numbers and lengths, or repeats parts.
void change(std::string& bytes, Random& random);
// Updates the checksums of the frames, as far as the frames can be parsed.
void repair_checksums(std::string& trace);

}  // namespace halo::fuzz
