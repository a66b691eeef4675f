// The first frame of a trace: what it is a trace of.
#pragma once

#include "logging/text.h"

namespace halo::logging {

// JSON, see docs/trace-format.md.
void print_about(Text& text);

}  // namespace halo::logging
