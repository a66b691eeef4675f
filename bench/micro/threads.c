// A team of threads that start together, and meet after each batch that they exchange.
#include "micro/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "micro/clock.h"

typedef struct {
  int size;
  const Pattern* pattern;
  Allocate* const* sites;
  size_t bytes;
  long pairs;
  _Alignas(64) atomic_int arrived;
  _Alignas(64) atomic_int rounds;
} Team;

typedef struct {
  Team* team;
  void** own;
  void** neighbours;
  double start;
  double end;
} Member;

// Spins: the threads have a processor each, and a measurement takes microseconds.
static void meet(Team* team) {
  const int round = atomic_load(&team->rounds);
  if (atomic_fetch_add(&team->arrived, 1) + 1 == team->size) {
    atomic_store(&team->arrived, 0);
    atomic_store(&team->rounds, round + 1);
    return;
  }
  for (int spins = 1; atomic_load(&team->rounds) == round; ++spins) {
    if (spins % 1024 == 0) {
      sched_yield();
    }
  }
}

static void exchange(const Member* member) {
  Team* team = member->team;
  for (long left = team->pairs; left > 0; left -= kBatch) {
    fill_batch(team->sites, team->bytes, member->own);
    meet(team);
    free_batch(member->neighbours);
    meet(team);
  }
}

static void* work(void* argument) {
  Member* member = argument;
  Team* team = member->team;
  meet(team);
  member->start = wall_ns();
  if (team->pattern != NULL) {
    team->pattern->run(team->sites, team->bytes, team->pairs);
  } else {
    exchange(member);
  }
  member->end = wall_ns();
  return NULL;
}

double run_threads(int threads, const Pattern* pattern, Allocate* const* sites, size_t bytes,
                   long pairs) {
  static void* batches[kMaxThreads][kBatch];
  Team team = {threads, pattern, sites, bytes, pairs, 0, 0};
  Member members[kMaxThreads];
  pthread_t ids[kMaxThreads];
  for (int i = 0; i < threads; ++i) {
    members[i] = (Member){&team, batches[i], batches[(i + 1) % threads], 0, 0};
    if (pthread_create(&ids[i], NULL, work, &members[i]) != 0) {
      fprintf(stderr, "pair: a thread could not be started\n");
      exit(1);
    }
  }
  double start = 0;
  double end = 0;
  for (int i = 0; i < threads; ++i) {
    pthread_join(ids[i], NULL);
    start = i == 0 || members[i].start < start ? members[i].start : start;
    end = members[i].end > end ? members[i].end : end;
  }
  return end - start;
}
