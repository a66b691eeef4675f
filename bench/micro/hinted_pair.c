// The cost of a pair of malloc and free at one call site, whose registers hold values by which a
// plan may place the object; bench/hinted_pairs.py and bench/span_pairs.py run it.
//
// hinted-pair KEYS OBJECTS [BYTES]: nanoseconds of a pair, of 32 bytes or BYTES. The key is drawn
// for each object, of KEYS; as many OBJECTS exist meanwhile, placed at the same call site.
// `hinted_call` is its return address: rbx has the key, r12 points to two reals that are its
// digits.
#include <stdio.h>
#include <stdlib.h>

#include "common/rng.h"
#include "micro/clock.h"

enum { kPairs = 5000000, kRepeats = 5, kSide = 64 };

void* allocate_by(size_t bytes, uint64_t key, const double* digits);
__asm__(
    ".text\n"
    ".type allocate_by, @function\n"
    "allocate_by:\n"
    "  push %rbx\n"
    "  push %r12\n"
    "  sub $8, %rsp\n"
    "  mov %rsi, %rbx\n"
    "  mov %rdx, %r12\n"
    "  call malloc@PLT\n"
    "hinted_call:\n"
    "  add $8, %rsp\n"
    "  pop %r12\n"
    "  pop %rbx\n"
    "  ret\n"
    ".size allocate_by, .-allocate_by\n");

static size_t object_bytes = 32;

static void* allocate(uint32_t key) {
  static double digits[2];
  digits[0] = key % kSide;
  digits[1] = key / kSide;
  void* const p = allocate_by(object_bytes, key, digits);
  if (p == NULL) {
    fputs("out of memory\n", stderr);
    exit(1);
  }
  return p;
}

static void run_pairs(Rng* rng, uint32_t keys) {
  for (long i = 0; i < kPairs; ++i) {
    char* const p = allocate(rng_below(rng, keys));
    *(volatile char*)p = 1;
    free(p);
  }
}

int main(int argc, char** argv) {
  const long keys = argc > 1 ? atol(argv[1]) : 0, objects = argc > 2 ? atol(argv[2]) : -1;
  if (argc > 3) object_bytes = (size_t)atol(argv[3]);
  if (keys < 1 || keys > 1000000 || objects < 0 || object_bytes < 1) {
    fputs("usage: hinted-pair KEYS OBJECTS [BYTES]\n", stderr);
    return 2;
  }
  Rng rng = {1};
  for (long i = 0; i < objects; ++i) allocate(rng_below(&rng, (uint32_t)keys));
  double found[kRepeats];
  for (int i = 0; i < kRepeats; ++i) {
    const double began = thread_ns();
    run_pairs(&rng, (uint32_t)keys);
    found[i] = (thread_ns() - began) / kPairs;
  }
  printf("%.2f\n", median_of(found, kRepeats));
  return 0;
}
