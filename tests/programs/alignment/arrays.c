// Loops over arrays of 24 to 120 bytes, which the compiler vectorises. A first pass goes element by
// element; the vectorised loops run with the argument `all`.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { count = 20000, kinds = 3 };

static double* make(int length, int seed) {
  double* array = malloc((size_t)length * sizeof *array);
  for (int i = 0; i < length; ++i) ((volatile double*)array)[i] = (seed * 7 + i) % 1000;
  return array;
}

static int length_of(int number) {
  static const int lengths[kinds] = {3, 7, 15};
  return lengths[number % kinds];
}

static double sum_one_by_one(const double* array, int length) {
  double sum = 0;
  for (int i = 0; i < length; ++i) sum += ((const volatile double*)array)[i];
  return sum;
}

static void add(double* restrict into, const double* restrict from, int length) {
  for (int i = 0; i < length; ++i) into[i] = 0.5 * into[i] + 0.25 * from[i];
}

static void negate(double* array, int length) {
  double* aligned = __builtin_assume_aligned(array, 16);
  for (int i = 0; i < length; ++i) aligned[i] = -aligned[i];
}

int main(int argc, char** argv) {
  static double* arrays[count];
  double sum = 0;
  for (int i = 0; i < count; ++i) arrays[i] = make(length_of(i), i);
  for (int i = 0; i < count; ++i) sum += sum_one_by_one(arrays[i], length_of(i));
  if (argc > 1 && strcmp(argv[1], "all") == 0)
    for (int i = kinds; i < count; ++i) {
      add(arrays[i], arrays[i - kinds], length_of(i));
      negate(arrays[i], length_of(i));
      sum += sum_one_by_one(arrays[i], length_of(i));
    }
  printf("%.3f\n", sum);
  for (int i = 0; i < count; ++i) free(arrays[i]);
}
