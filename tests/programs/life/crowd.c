// Many more threads than processors; half of what they allocate is freed by others.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sites.h"
#include "watchdog.h"

enum { threads = 64, slots = 64, mailboxes = 512, operations = 20000 };
struct object {
  unsigned bytes;
  unsigned mark;
};
static _Atomic(struct object*) mailbox[mailboxes];
static pthread_barrier_t all_here;

static struct object* make(unsigned seed) {
  unsigned bytes = 16 + seed % 240;
  struct object* p = seed % 3 == 0   ? near_make(bytes)
                     : seed % 3 == 1 ? left_make(bytes)
                                     : right_make(bytes);
  memset(p, (int)(seed % 256), bytes);
  p->bytes = bytes;
  p->mark = seed % 256;
  return p;
}

static void drop(struct object* p) {
  if (p == NULL) return;
  const unsigned char* content = (const unsigned char*)p;
  for (unsigned i = sizeof *p; i < p->bytes; ++i)
    if (content[i] != p->mark) abort();
  free(p);
}

static void* run(void* number) {
  struct object* own[slots] = {0};
  unsigned seed = (unsigned)(size_t)number;
  for (int i = 0; i < operations; ++i) {
    seed = seed * 1103515245 + 12345;
    unsigned random = seed >> 12;
    struct object* fresh = make(random);
    if (i == 0) pthread_barrier_wait(&all_here);  // each has its own heap now
    if (i % 2) {
      drop(atomic_exchange(&mailbox[random % mailboxes], fresh));
    } else {
      drop(own[random % slots]);
      own[random % slots] = fresh;
    }
  }
  for (int i = 0; i < slots; ++i) drop(own[i]);
  return NULL;
}

int main(void) {
  pthread_t all[threads];
  watchdog(200);
  pthread_barrier_init(&all_here, NULL, threads);
  for (size_t i = 0; i < threads; ++i) pthread_create(&all[i], NULL, run, (void*)(i + 1));
  for (int i = 0; i < threads; ++i) pthread_join(all[i], NULL);
  for (int i = 0; i < mailboxes; ++i) drop(mailbox[i]);
  puts("fine");
}
