// Which arcs are open, and which of these is the cheapest.
#pragma once

#include <stdbool.h>

#include "arcs/network.h"

// Opens every arc whose number is a multiple of `spacing`.
void open_arcs(Network* network, uint32_t spacing);
// The first open arc with the minimum reduced cost; null if none is open.
Arc* cheapest_arc(const Network* network);
// Closes this arc and opens the next one in the array that is closed.
void pass_on(Network* network, Arc* arc);
