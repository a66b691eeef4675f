// Thousands of short threads, one after the other, that allocate while they end.
#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "sites.h"
#include "watchdog.h"

namespace {

constexpr int threads = 2000;
pthread_key_t key;
bool by_local = false, by_key = false, again = false;
long grouped = 0;  // no lock: one thread runs at a time

void use() {
  void* p = right_make(object_bytes);
  grouped += is_grouped(p);
  free(p);
}

struct Local {
  ~Local() {
    free(kept);
    use();
  }
  void* kept = near_make(object_bytes);
};
thread_local Local local;

// Once, or for as many rounds as the C library continues.
void on_key(void* kept) {
  free(kept);
  use();
  if (again) pthread_setspecific(key, near_make(object_bytes));
}

void* run(void*) {
  void* kept[100];
  for (void*& p : kept) grouped += is_grouped(p = left_make(object_bytes));
  if (by_local) memset(local.kept, 1, object_bytes);
  if (by_key) pthread_setspecific(key, near_make(object_bytes));
  for (void* p : kept) free(p);
  return nullptr;
}

}  // namespace

int main(int, char** argv) {
  watchdog(100);
  by_local = strstr(argv[1], "local") != nullptr;
  again = strstr(argv[1], "again") != nullptr;
  by_key = again || strstr(argv[1], "key") != nullptr;
  pthread_key_create(&key, on_key);
  for (int i = 0; i < threads; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, run, nullptr) != 0) abort();
    pthread_join(thread, nullptr);
  }
  printf("%ld grouped\n", grouped);
}
