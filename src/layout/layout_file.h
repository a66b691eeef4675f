// Writes the layout file (layout_format.h).
#pragma once

#include <cstdio>

#include "layout/orders.h"

namespace halo::layout {

void write_layout(const Subject& subject, FILE* file);

}  // namespace halo::layout
