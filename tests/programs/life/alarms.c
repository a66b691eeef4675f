// SIGALRM at a high rate; its handler allocates and frees at the same sites as the program.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "sites.h"
#include "watchdog.h"

enum { slots = 1000, alarms = 1500 };
static volatile long alarmed;

static void* make(unsigned kind) {
  return kind == 0   ? near_make(object_bytes)
         : kind == 1 ? left_make(object_bytes)
                     : right_make(object_bytes);
}

static void on_alarm(int number) {
  (void)number;
  for (unsigned kind = 0; kind < 3; ++kind) {
    void* p = make(kind);
    memset(p, 0xEE, object_bytes);
    free(p);
  }
  ++alarmed;
}

static void check(const unsigned char* p, unsigned slot) {
  for (int k = 0; k < object_bytes; ++k)
    if (p[k] != (unsigned char)slot) abort();
}

int main(void) {
  static unsigned char* kept[slots];
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  struct itimerval every = {{0, 100}, {0, 100}};
  unsigned seed = 1;
  watchdog(100);
  sigaction(SIGALRM, &action, NULL);
  // With enough cached blocks, the alarm interrupts only operations of the thread's own caches.
  for (unsigned kind = 0; kind < 3; ++kind) {
    for (int i = 0; i < slots + 8; ++i) kept[i % slots] = make(kind);
    for (int i = 0; i < slots; ++i) free(kept[i]), kept[i] = NULL;
  }
  setitimer(ITIMER_REAL, &every, NULL);
  while (alarmed < alarms) {
    seed = seed * 1103515245 + 12345;
    unsigned slot = (seed >> 16) % slots;
    if (kept[slot] != NULL) {
      check(kept[slot], slot);
      free(kept[slot]);
      kept[slot] = NULL;
    } else {
      kept[slot] = make(slot % 3);
      memset(kept[slot], (int)slot, object_bytes);
    }
  }
  every = (struct itimerval){{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &every, NULL);
  for (unsigned slot = 0; slot < slots; ++slot)
    if (kept[slot] != NULL) check(kept[slot], slot);
  puts("fine");
}
