// Writes the layout file (layout_format.h).
#pragma once

#include <cstdio>

#include "studies/layouts/orders.h"

namespace halo::layout {

void write_layout(const Subject& subject, FILE* file);

}  // namespace halo::layout
