// A linked list of jobs, each with some time left.
#pragma once

#include <stdint.h>

#include "common/rng.h"

typedef struct Job {
  struct Job* next;
  uint32_t remaining;
  uint32_t priority;
  uint64_t work;
} Job;

typedef struct List {
  Job* first;
  Job** last;  // the link of the next job
  uint32_t length;
} List;

typedef struct Totals {
  uint64_t appended;
  uint64_t finished;
  uint64_t work;  // of the jobs that have finished
} Totals;

void list_init(List* list);
void list_append(List* list, Rng* rng, Totals* totals);
// One step of the simulation: all jobs work, those without time left are removed and freed.
void list_step(List* list, Totals* totals);
void list_free(List* list);
