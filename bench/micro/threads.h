// The patterns on several threads concurrently, and one where each thread frees what another
// allocated.
#pragma once

#include <stddef.h>

#include "micro/patterns.h"

enum { kMaxThreads = 64 };

// Nanoseconds from the first thread's start to the last one's end, `pairs` on each thread. Without
// a pattern, a thread frees the batches of its neighbour: with one thread, its own.
double run_threads(int threads, const Pattern* pattern, Allocate* const* sites, size_t bytes,
                   long pairs);
