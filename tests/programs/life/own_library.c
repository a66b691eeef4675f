// Opens and closes the runtime itself repeatedly. Argument: its path.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "sites.h"
#include "watchdog.h"

static int use(void) {
  int grouped = 0;
  void* kept[500];
  for (int i = 0; i < 500; ++i) grouped += is_grouped(kept[i] = left_make(object_bytes));
  for (int i = 0; i < 500; ++i) release_block(kept[i]);
  return grouped;
}

static void* use_in_thread(void* grouped) {
  *(int*)grouped += use();
  return NULL;
}

int main(int argc, char** argv) {
  int grouped = use();
  (void)argc;
  watchdog(60);
  for (int i = 0; i < 5; ++i) {
    pthread_t thread;
    void* handle = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
    if (handle == NULL) return puts(dlerror()), 1;
    void* (*make)(size_t) = (void* (*)(size_t))dlsym(handle, "malloc");
    void (*drop)(void*) = (void (*)(void*))dlsym(handle, "free");
    drop(make(100));
    drop(malloc(100));
    free(make(100));
    pthread_create(&thread, NULL, use_in_thread, &grouped);
    dlclose(handle);
    pthread_join(thread, NULL);
    grouped += use();
  }
  void* still = dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD);
  printf("%s, %d grouped\n", still != NULL ? "still there" : "gone", grouped);
}
