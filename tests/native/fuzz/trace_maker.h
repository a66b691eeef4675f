// Traces and sections for the trace fuzzer, some of them with changes.
#pragma once

#include <string>

#include "fuzz/driver.h"

namespace halo::fuzz {

// A trace with every kind of frame, as it should be, but for what its sections may say.
std::string make_trace(Random& random);
// The sections of a module: a length of 4 bytes each for sites and types, then the bytes of all.
std::string make_sections(Random& random);
// Flipped bits, other numbers, other lengths, parts repeated.
void change(std::string& bytes, Random& random);
// Makes the checksums of the frames right, as far as they can be told from each other.
void repair_checksums(std::string& trace);

}  // namespace halo::fuzz
