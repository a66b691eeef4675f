// The patterns: loops around malloc and free with as little else in them as can be.
#include "micro/patterns.h"

#include <stdlib.h>

static void* written(Allocate* site, size_t bytes) {
  volatile char* p = site(bytes);
  *p = 1;
  return (void*)p;
}

void fill_batch(Allocate* const* sites, size_t bytes, void** batch) {
  for (int i = 0; i < kBatch; ++i) {
    batch[i] = written(sites[i % kSites], bytes);
  }
}

void free_batch(void** batch) {
  for (int i = 0; i < kBatch; ++i) {
    free(batch[i]);
  }
}

static void run_pair(Allocate* const* sites, size_t bytes, long pairs) {
  for (; pairs > 0; pairs -= kSites) {
    for (int i = 0; i < kSites; ++i) {
      free(written(sites[i], bytes));
    }
  }
}

static void run_same(Allocate* const* sites, size_t bytes, long pairs) {
  for (; pairs > 0; --pairs) {
    free(written(sites[0], bytes));
  }
}

static void run_batch(Allocate* const* sites, size_t bytes, long pairs) {
  void* batch[kBatch];
  for (; pairs > 0; pairs -= kBatch) {
    fill_batch(sites, bytes, batch);
    free_batch(batch);
  }
}

static void run_reverse(Allocate* const* sites, size_t bytes, long pairs) {
  void* batch[kBatch];
  for (; pairs > 0; pairs -= kBatch) {
    fill_batch(sites, bytes, batch);
    for (int i = kBatch; i > 0; --i) {
      free(batch[i - 1]);
    }
  }
}

const Pattern patterns[kPatterns] = {
    {"pair", run_pair}, {"same", run_same}, {"batch", run_batch}, {"reverse", run_reverse}};
