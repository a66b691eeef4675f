// The cost of a pair of malloc and free at one call site; bench/span_pairs.py runs it.
//
// site-pair BYTES: nanoseconds of a pair of that many bytes. `measured_call` is the return address
// of the call.
#include <stdio.h>
#include <stdlib.h>

#include "micro/clock.h"

enum { kPairs = 5000000, kRepeats = 5 };

void* allocate(size_t bytes);
__asm__(
    ".text\n"
    ".type allocate, @function\n"
    "allocate:\n"
    "  sub $8, %rsp\n"
    "  call malloc@PLT\n"
    "measured_call:\n"
    "  add $8, %rsp\n"
    "  ret\n"
    ".size allocate, .-allocate\n");

static void run_pairs(size_t bytes) {
  for (long i = 0; i < kPairs; ++i) {
    char* const p = allocate(bytes);
    if (p == NULL) {
      fputs("out of memory\n", stderr);
      exit(1);
    }
    *(volatile char*)p = 1;
    free(p);
  }
}

int main(int argc, char** argv) {
  const long bytes = argc > 1 ? atol(argv[1]) : 0;
  if (bytes < 1) {
    fputs("usage: site-pair BYTES\n", stderr);
    return 2;
  }
  double found[kRepeats];
  for (int i = 0; i < kRepeats; ++i) {
    const double began = thread_ns();
    run_pairs((size_t)bytes);
    found[i] = (thread_ns() - began) / kPairs;
  }
  printf("%.2f\n", median_of(found, kRepeats));
  return 0;
}
