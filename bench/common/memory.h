// Ends a C workload that has run out of memory.
#pragma once

#include <stdio.h>
#include <stdlib.h>

// Wraps each call of malloc; the call itself stays where the object is made.
static inline void* require_memory(void* memory) {
  if (memory == NULL) {
    fputs("out of memory\n", stderr);
    exit(1);
  }
  return memory;
}
