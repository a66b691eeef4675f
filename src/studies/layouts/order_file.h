// Writes an order of objects as text, to put the records of an input file in that order.
#pragma once

#include <cstdio>

#include "studies/layouts/orders.h"

namespace halo::layout {

// A line for each object: its context, its number among the allocations of that context from 0 on,
// and its size, after a line that names these. Of a program that allocates an object for each
// record of a file, the second number is that of the record (Miucin, section 3.5.2).
void write_order(const Order& order, const Subject& subject, FILE* file);

}  // namespace halo::layout
