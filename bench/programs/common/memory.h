// Ends a C workload that has run out of memory.
#pragma once

#include <stdio.h>
#include <stdlib.h>

// Wraps each call of malloc; the call site stays in the caller.
static inline void* require_memory(void* memory) {
  if (memory == NULL) {
    fputs("out of memory\n", stderr);
    exit(1);
  }
  return memory;
}
