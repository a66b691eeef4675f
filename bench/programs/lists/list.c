// Simulates one list; every job has a malloc and a free of its own.
#include "lists/list.h"

#include <stdlib.h>

#include "common/memory.h"

enum { kLongestJob = 20 };

void list_init(List* list) { *list = (List){NULL, &list->first, 0}; }

void list_append(List* list, Rng* rng, Totals* totals) {
  Job* job = require_memory(malloc(sizeof *job));
  *job = (Job){NULL, 1 + rng_below(rng, kLongestJob), 1 + rng_below(rng, 8), 0};
  *list->last = job;
  list->last = &job->next;
  ++list->length;
  ++totals->appended;
}

void list_step(List* list, Totals* totals) {
  Job** link = &list->first;
  for (Job* job = *link; job != NULL; job = *link) {
    job->work += job->priority;
    if (--job->remaining > 0) {
      link = &job->next;
      continue;
    }
    *link = job->next;
    totals->work += job->work;
    ++totals->finished;
    --list->length;
    free(job);
  }
  list->last = link;
}

void list_free(List* list) {
  for (Job* job = list->first; job != NULL;) {
    Job* next = job->next;
    free(job);
    job = next;
  }
  list_init(list);
}
