// pair: the cost of a pair of malloc and free, at call sites of a chosen depth.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "micro/chain.h"
#include "micro/clock.h"
#include "micro/patterns.h"
#include "micro/threads.h"

enum { kPairs = 200000, kMaxThreadPairs = 1000000000, kTrained = 200, kMaxRepeats = 1000 };

static const char kUsage[] =
    "usage: pair train DEPTH\n"
    "       pair time DEPTH REPEATS SIZE...\n"
    "       pair threads DEPTH REPEATS SIZE COUNT PAIRS\n"
    "DEPTH 1 to 8: the return address that distinguishes the eight call sites; 0: one site that\n"
    "training does not have.\n";

static _Noreturn void fail_with_usage(void) {
  fputs(kUsage, stderr);
  exit(2);
}

static long number(const char* text, long least, long most) {
  char* end = NULL;
  const long value = strtol(text, &end, 10);
  if (end == text || *end != '\0' || value < least || value > most) {
    fail_with_usage();
  }
  return value;
}

static Allocate* const* sites_of(long depth) {
  return depth == 0 ? outside_sites : chain_sites[depth - 1];
}

// The same number of objects at each of the eight sites, all called from one place.
static void train(Allocate* const* sites) {
  static void* objects[kTrained][kSites];
  for (int i = 0; i < kTrained; ++i) {
    for (int site = 0; site < kSites; ++site) {
      objects[i][site] = sites[site](32);
      memset(objects[i][site], 1, 32);
    }
  }
  for (int i = 0; i < kTrained; ++i) {
    for (int site = 0; site < kSites; ++site) {
      free(objects[i][site]);
    }
  }
}

// Prints the pattern, the size, and the median of nanoseconds for each pair. The first repetition
// warms up and does not count.
static void time_pattern(const Pattern* pattern, Allocate* const* sites, size_t bytes,
                         int repeats) {
  double found[kMaxRepeats];
  for (int i = -1; i < repeats; ++i) {
    const double start = thread_ns();
    pattern->run(sites, bytes, kPairs);
    const double spent = thread_ns() - start;
    if (i >= 0) {
      found[i] = spent / kPairs;
    }
  }
  printf("%s %zu %.4f\n", pattern->name, bytes, median_of(found, repeats));
}

// Prints the pattern, the size, and the median of millions of pairs a second on all threads.
static void time_threads(const char* name, const Pattern* pattern, Allocate* const* sites,
                         size_t bytes, int repeats, int threads, long pairs) {
  double found[kMaxRepeats];
  for (int i = -1; i < repeats; ++i) {
    const double spent = run_threads(threads, pattern, sites, bytes, pairs);
    if (i >= 0) {
      found[i] = 1e3 * threads * (double)pairs / spent;
    }
  }
  printf("%s %zu %.4f\n", name, bytes, median_of(found, repeats));
}

int main(int argc, char** argv) {
  if (argc < 3) {
    fail_with_usage();
  }
  Allocate* const* sites = sites_of(number(argv[2], 0, kDepths));
  if (strcmp(argv[1], "train") == 0 && argc == 3) {
    train(sites);
    return 0;
  }
  if (argc < 5) {
    fail_with_usage();
  }
  const int repeats = (int)number(argv[3], 1, kMaxRepeats);
  if (strcmp(argv[1], "time") == 0) {
    for (int i = 4; i < argc; ++i) {
      const size_t bytes = (size_t)number(argv[i], 1, 4096);
      for (int at = 0; at < kPatterns; ++at) {
        time_pattern(&patterns[at], sites, bytes, repeats);
      }
    }
    return 0;
  }
  if (strcmp(argv[1], "threads") == 0 && argc == 7) {
    const size_t bytes = (size_t)number(argv[4], 1, 4096);
    const int threads = (int)number(argv[5], 1, kMaxThreads);
    const long pairs = number(argv[6], kBatch, kMaxThreadPairs);
    for (int at = 0; at < kPatterns; ++at) {
      time_threads(patterns[at].name, &patterns[at], sites, bytes, repeats, threads, pairs);
    }
    time_threads("exchange", NULL, sites, bytes, repeats, threads, pairs);
    return 0;
  }
  fail_with_usage();
}
