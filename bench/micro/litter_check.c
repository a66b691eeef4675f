// Checks littering independently: litter_check DATA OCCUPANCY MULTIPLIER SEED.
//
// Its own malloc records each object's size. It prints the kept objects and their fraction, and the
// time of littering. It also prints how far each size's share of them deviates from its recorded
// share, at most and in sum.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "studies/litter/litter.h"

void* __libc_malloc(size_t size);
void __libc_free(void* memory);

enum { kClasses = 4098, kHeader = 16 };  // 0 bytes to a page, and larger

static uint64_t made[kClasses], live[kClasses];

static size_t class_of(size_t size) { return size < kClasses - 1 ? size : kClasses - 1; }

void* malloc(size_t size) {
  char* memory = __libc_malloc(size + kHeader);
  if (memory == NULL) {
    return NULL;
  }
  memcpy(memory, &size, sizeof size);
  ++made[class_of(size)];
  ++live[class_of(size)];
  return memory + kHeader;
}

void free(void* memory) {
  if (memory == NULL) {
    return;
  }
  size_t size;
  char* start = (char*)memory - kHeader;
  memcpy(&size, start, sizeof size);
  --live[class_of(size)];
  __libc_free(start);
}

// Reads the recorded counts: the numbers of "bins".
static int read_bins(const char* path, double* bins) {
  FILE* file = fopen(path, "r");
  int character = 0, found = 0;
  const char* name = "\"bins\": [";
  for (size_t matched = 0; file != NULL && name[matched] != '\0';) {
    character = fgetc(file);
    if (character == EOF) {
      break;
    }
    matched = character == name[matched] ? matched + 1 : 0;
  }
  while (file != NULL && found < kClasses && fscanf(file, "%lf,", &bins[found]) == 1) {
    ++found;
  }
  if (file != NULL) {
    fclose(file);
  }
  return found == kClasses;
}

int main(int argc, char** argv) {
  static double bins[kClasses];
  if (argc != 5 || !read_bins(argv[1], bins)) {
    fprintf(stderr, "litter_check: expected DATA OCCUPANCY MULTIPLIER SEED\n");
    return 2;
  }
  struct halo_litter_settings settings = {.data = argv[1],
                                          .occupancy = strtod(argv[2], NULL),
                                          .multiplier = strtod(argv[3], NULL),
                                          .seed = strtoull(argv[4], NULL, 10),
                                          .shuffle = 1};
  struct halo_litter_report report;
  memset(made, 0, sizeof made);
  memset(live, 0, sizeof live);
  if (halo_litter(&settings, &report) != HALO_LITTERED) {
    fprintf(stderr, "litter_check: %s\n", report.problem);
    return 1;
  }
  double recorded = 0, objects = 0, kept = 0;
  for (int i = 0; i < kClasses; ++i) {
    recorded += bins[i];
    objects += (double)made[i];
    kept += (double)live[i];
  }
  double most = 0, sum = 0;
  for (int i = 0; i < kClasses && kept > 0; ++i) {
    const double difference = fabs((double)live[i] / kept - bins[i] / recorded);
    most = fmax(most, difference);
    sum += difference / 2;
  }
  printf("%.0f of %.0f objects stay: occupancy %.6f\n", kept, objects, kept / objects);
  printf("shares differ by %.6f %% of all at most, %.6f %% in sum\n", 100 * most, 100 * sum);
  printf("%.3f s, %.2f bytes of our own an object\n", report.seconds,
         (double)report.own_bytes / objects);
  return 0;
}
