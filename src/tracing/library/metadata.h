// The first frame of a trace: the traced program and its process.
#pragma once

#include "tracing/library/text.h"

namespace halo::logging {

// JSON, see docs/trace-format.md.
void print_metadata(Text& text);

}  // namespace halo::logging
