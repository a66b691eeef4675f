// Writes the contents file (contents_format.h).
#pragma once

#include <cstdio>
#include <string>

namespace halo::layout {

// Reads a trace. Throws std::runtime_error with a sentence if it is damaged. The file must be
// seekable.
void write_contents(const std::string& trace, FILE* file);

}  // namespace halo::layout
