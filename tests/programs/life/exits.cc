// Ends in the way that the argument names, with objects that destructors and handlers free.
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "late.h"
#include "sites.h"
#include "watchdog.h"

namespace {

constexpr int objects = 1000;

struct Keeper {
  ~Keeper() {
    int grouped = 0;
    for (void* p : kept) free(p);
    for (void*& p : kept) grouped += is_grouped(p = near_make(object_bytes));
    for (void* p : kept) free(p);
    dprintf(1, "static destructor %d\n", grouped);
  }
  void* kept[objects]{};
};

Keeper keeper;

void at_quick() {
  for (void*& p : keeper.kept) release_block(p), p = left_make(object_bytes);
  dprintf(1, "quick handler\n");
}

void on_abort(int) {
  for (void*& p : keeper.kept) release_block(p), p = left_make(object_bytes);
  dprintf(1, "abort handler\n");
}

[[noreturn]] void* churn(void*) {
  for (;;) {
    release_block(near_make(100));
    release_block(left_make(object_bytes));
  }
}

void* exit_from_here(void*) { exit(3); }

}  // namespace

int main(int, char** argv) {
  const char* way = argv[1];
  int grouped = 0;
  watchdog(60);
  for (void*& p : keeper.kept) grouped += is_grouped(p = near_make(object_bytes));
  for (int i = 0; i < objects; ++i) late_free(right_make(object_bytes));
  dprintf(1, "made %d\n", grouped);
  at_quick_exit(at_quick);
  signal(SIGABRT, on_abort);
  pthread_t thread;
  if (strcmp(way, "exit") == 0) exit(3);
  if (strcmp(way, "_exit") == 0) _exit(3);
  if (strcmp(way, "quick_exit") == 0) quick_exit(3);
  if (strcmp(way, "abort") == 0) abort();
  if (strcmp(way, "thread") == 0) {
    for (int i = 0; i < 3; ++i) pthread_create(&thread, nullptr, churn, nullptr);
    pthread_create(&thread, nullptr, exit_from_here, nullptr);
    pthread_join(thread, nullptr);
  }
  if (strcmp(way, "pthread_exit") == 0) {
    pthread_create(&thread, nullptr, exit_from_here, nullptr);
    pthread_exit(nullptr);
  }
  return 3;
}
