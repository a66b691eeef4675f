// A worker: looks up the keys of a text, and counts its operations.
#pragma once

#include <pthread.h>

#include "counters/records.h"

typedef struct Worker {
  unsigned number;
  const Records* records;
  const char* text;  // its part: lines, each with a key
  const char* end;
  long passes;  // over the text
  uint64_t checksum;
  pthread_t thread;
} Worker;

// For pthread_create: `worker` is a Worker, whose checksum it fills in.
void* worker_run(void* worker);
