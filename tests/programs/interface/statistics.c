// What an allocator says about its memory, while the program allocates and frees objects.
//
//   statistics INTERFACE grow COUNT SIZE THREADS   prints the bytes in use that INTERFACE counted:
//       of all objects, without those that another thread freed, without all
//   statistics INTERFACE evict COUNT SIZE LIMIT    frees all objects whenever it counts more bytes
//       than LIMIT; prints how many there were each time
//   statistics INTERFACE trim COUNT SIZE           prints whether INTERFACE purged memory, and
//       kilobytes in memory, with all objects, after they were freed, and after that
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef uint64_t Count;

static void* find(const char* name) {
  void* found = dlsym(RTLD_DEFAULT, name);
  if (found == NULL) {
    fprintf(stderr, "no %s\n", name);
    exit(1);
  }
  return found;
}

static struct mallinfo2 info(void) {
  struct mallinfo2 now = mallinfo2();
  if (now.arena != now.uordblks + now.fordblks) abort();
  return now;
}

static Count by_mallinfo2(void) {
  struct mallinfo2 now = info();
  return now.uordblks + now.hblkhd;
}

static Count by_mallinfo(void) {
  struct mallinfo now = mallinfo();
  return (Count)(unsigned)now.uordblks + (unsigned)now.hblkhd;
}

// The last number behind `attribute` of the last such element.
static Count number(const char* text, const char* element, const char* attribute) {
  const char* last = NULL;
  for (const char* at = text; (at = strstr(at, element)) != NULL; ++at) last = at;
  if (last == NULL || (last = strstr(last, attribute)) == NULL) abort();
  return strtoull(last + strlen(attribute), NULL, 10);
}

static Count by_malloc_info(void) {
  char* text = NULL;
  size_t length = 0;
  FILE* stream = open_memstream(&text, &length);
  if (malloc_info(0, stream) != 0 || fclose(stream) != 0) abort();
  Count used = number(text, "<system type=\"current\"", "size=\"") -
               number(text, "<total type=\"rest\"", "size=\"") -
               number(text, "<total type=\"fast\"", "size=\"") +
               number(text, "<total type=\"mmap\"", "size=\"");
  free(text);
  return used;
}

// What `print` writes to standard error.
static const char* error_text(void (*print)(void)) {
  static char text[1 << 20];
  static int saved = -1;
  static FILE* file = NULL;
  if (file == NULL) file = tmpfile();
  saved = dup(2);
  rewind(file);
  if (ftruncate(fileno(file), 0) != 0 || dup2(fileno(file), 2) < 0) abort();
  print();
  fflush(stderr);
  dup2(saved, 2);
  close(saved);
  ssize_t length = pread(fileno(file), text, sizeof text - 1, 0);
  text[length < 0 ? 0 : length] = '\0';
  return text;
}

static Count by_malloc_stats(void) {
  return number(error_text(malloc_stats), "in use bytes", "= ");
}

static void trim(void) { printf("%d ", malloc_trim(0)); }

static const struct Interface {
  const char* name;
  Count (*in_use)(void);
  void (*trim)(void);
} interfaces[] = {
    {"mallinfo", by_mallinfo, NULL},
    {"mallinfo2", by_mallinfo2, trim},
    {"malloc_info", by_malloc_info, NULL},
    {"malloc_stats", by_malloc_stats, NULL},
};

static const struct Interface* used;
static size_t size;

__attribute__((noinline)) static void* make(void) {
  char* made = malloc(size);
  memset(made, 1, size);
  return made;
}

// Each thread's objects, of which half are freed by the first thread.
static void*** objects;
static long per_thread;
static pthread_barrier_t all;
enum Phase { kMade, kSomeFreed, kFreed };

static void* work(void* of) {
  void** own = of;
  for (long at = 0; at < per_thread; ++at) own[at] = make();
  for (int phase = kMade; phase < kFreed; ++phase) {
    pthread_barrier_wait(&all);
    pthread_barrier_wait(&all);
  }
  for (long at = per_thread / 2; at < per_thread; ++at) free(own[at]);
  pthread_barrier_wait(&all);
  pthread_barrier_wait(&all);
  return NULL;
}

static void grow(long count, long threads) {
  pthread_t ids[threads];
  per_thread = count / threads;
  objects = malloc(sizeof *objects * threads);
  for (long at = 0; at < threads; ++at) objects[at] = calloc(per_thread, sizeof(void*));
  pthread_barrier_init(&all, NULL, threads + 1);
  used->in_use();
  const Count before = used->in_use();
  for (long at = 0; at < threads; ++at) pthread_create(&ids[at], NULL, work, objects[at]);
  for (int phase = kMade; phase <= kFreed; ++phase) {
    pthread_barrier_wait(&all);
    if (phase == kSomeFreed)
      for (long at = 0; at < threads; ++at)
        for (long freed = 0; freed < per_thread / 2; ++freed) free(objects[at][freed]);
    printf("%ld ", (long)(used->in_use() - before));
    pthread_barrier_wait(&all);
  }
  for (long at = 0; at < threads; ++at) pthread_join(ids[at], NULL);
}

static void evict(long count, Count limit) {
  void** kept = malloc(sizeof *kept * count);
  long live = 0;
  used->in_use();
  const Count before = used->in_use();
  for (long at = 0; at < count; ++at) {
    if (at % 1024 == 0 && (long)(used->in_use() - before) > (long)limit) {
      printf("%ld ", live);
      while (live > 0) free(kept[--live]);
    }
    kept[live++] = make();
  }
  while (live > 0) free(kept[--live]);
}

static long resident(void) {
  long kilobytes = 0;
  char line[256];
  FILE* status = fopen("/proc/self/status", "r");
  while (fgets(line, sizeof line, status) != NULL) sscanf(line, "VmRSS: %ld", &kilobytes);
  fclose(status);
  return kilobytes;
}

// Some objects stay, one of a hundred.
static void purge(long count) {
  void** kept = malloc(sizeof *kept * count);
  for (long at = 0; at < count; ++at) kept[at] = make();
  const long full = resident();
  for (long at = 0; at < count; ++at) free(kept[at]);
  const long freed = resident();
  used->trim();
  printf("%ld %ld %ld", full, freed, resident());
}

int main(int argc, char** argv) {
  for (unsigned at = 0; at < sizeof interfaces / sizeof *interfaces; ++at)
    if (strcmp(argv[1], interfaces[at].name) == 0) used = &interfaces[at];
  const long count = atol(argv[3]);
  size = (size_t)atol(argv[4]);
  if (strcmp(argv[2], "grow") == 0) grow(count, atol(argv[5]));
  if (strcmp(argv[2], "evict") == 0) evict(count, (Count)atoll(argv[5]));
  if (strcmp(argv[2], "trim") == 0) purge(count);
  puts("");
  return 0;
}
