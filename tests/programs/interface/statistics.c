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
  if (now.arena < now.uordblks + now.fordblks) abort();  // gperftools has small free ones beside
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

// jemalloc's. `what` names its number of bytes; by MIB, likewise.
static void* control(const char* name, size_t* number, void* now, size_t now_bytes) {
  static int (*mallctl)(const char*, void*, size_t*, void*, size_t);
  if (mallctl == NULL) mallctl = find("mallctl");
  size_t bytes = sizeof *number;
  if (mallctl(name, number, number == NULL ? NULL : &bytes, now, now_bytes) != 0) abort();
  return number;
}

static void refresh(void) {
  uint64_t epoch = 1;
  control("epoch", &epoch, &epoch, sizeof epoch);
}

static Count read_bytes(const char* name) {
  size_t number = 0;
  refresh();
  return *(size_t*)control(name, &number, NULL, 0);
}

static Count by_allocated(void) {
  const Count allocated = read_bytes("stats.allocated");
  size_t active = 0, resident = 0, mapped = 0;
  control("stats.active", &active, NULL, 0);
  control("stats.resident", &resident, NULL, 0);
  control("stats.mapped", &mapped, NULL, 0);
  if (allocated > active || active > resident || active > mapped) abort();
  return allocated;
}
static Count by_active(void) { return read_bytes("stats.active"); }
static Count by_resident(void) { return read_bytes("stats.resident"); }
static Count by_mapped(void) { return read_bytes("stats.mapped"); }
static Count by_all_arenas(void) {
  return read_bytes("stats.arenas.4096.small.allocated") +
         read_bytes("stats.arenas.4096.large.allocated");
}
static Count by_all_pages(void) { return read_bytes("stats.arenas.4096.pactive") * 4096; }

static Count by_mib(void) {
  static int (*to_mib)(const char*, size_t*, size_t*);
  static int (*by)(const size_t*, size_t, void*, size_t*, void*, size_t);
  static size_t mib[2], epoch_mib[1], length = 2, one = 1;
  if (to_mib == NULL) {
    to_mib = find("mallctlnametomib");
    by = find("mallctlbymib");
    if (to_mib("stats.allocated", mib, &length) || to_mib("epoch", epoch_mib, &one)) abort();
  }
  uint64_t epoch = 1;
  size_t number = 0, bytes = sizeof number;
  if (by(epoch_mib, one, &epoch, &bytes, &epoch, sizeof epoch) != 0) abort();
  if (by(mib, length, &number, &bytes, NULL, 0) != 0) abort();
  return number;
}

// Without a new epoch, all reads are of the same time.
static Count by_old_epoch(void) {
  const Count now = by_allocated();
  size_t again = 0;
  for (int at = 0; at < 1000; ++at) free(malloc(100));
  void* kept = malloc(100000);
  control("stats.allocated", &again, NULL, 0);
  free(kept);
  if (again != now) abort();
  return now;
}

// What frees the memory of one arena, or of a few bytes, leaves the groups' memory as it is.
static void purge_one_arena(void) {
  unsigned arena = 0;
  size_t bytes = sizeof arena;
  int (*mallctl)(const char*, void*, size_t*, void*, size_t) = find("mallctl");
  if (mallctl("arenas.create", &arena, &bytes, NULL, 0) != 0) abort();
  char name[64];
  snprintf(name, sizeof name, "arena.%u.purge", arena);
  control(name, NULL, NULL, 0);
  printf("1 ");
}

static void purge_arenas(void) {
  control("arena.4096.purge", NULL, NULL, 0);
  printf("1 ");
}

static void purge_by_mib(void) {
  size_t mib[3], length = 3;
  int (*to_mib)(const char*, size_t*, size_t*) = find("mallctlnametomib");
  int (*by)(const size_t*, size_t, void*, size_t*, void*, size_t) = find("mallctlbymib");
  if (to_mib("arena.0.purge", mib, &length) != 0) abort();
  mib[1] = 4096;
  if (by(mib, length, NULL, NULL, NULL, 0) != 0) abort();
  printf("1 ");
}

static void (*print_statistics)(void (*)(void*, const char*), void*, const char*);
static void append(void* to, const char* text) { strcat(to, text); }

// The groups' line. The text's own numbers have them, too, or not.
static Count by_stats_print(void) {
  static char text[1 << 20];
  if (print_statistics == NULL) print_statistics = find("malloc_stats_print");
  text[0] = '\0';
  refresh();
  print_statistics(append, text, "abl");
  if (strstr(text, "Allocated: ") == NULL) abort();
  const char* groups = strstr(text, "Groups: allocated: ");
  const Count sum = groups == NULL ? 0 : strtoull(groups + 19, NULL, 10);
  text[0] = '\0';
  print_statistics(append, text, "J");
  if (text[0] != '{' || strstr(text, "Groups:") != NULL) abort();
  return sum;
}

// mimalloc's.
static Count by_process_info(void) {
  static void (*process_info)(size_t*, size_t*, size_t*, size_t*, size_t*, size_t*, size_t*,
                              size_t*);
  if (process_info == NULL) process_info = find("mi_process_info");
  size_t committed = 0, peak = 0, resident = 0;
  process_info(NULL, NULL, NULL, &resident, NULL, &committed, &peak, NULL);
  if (committed > peak || resident == 0) abort();
  return committed;
}

static void append_to(const char* text, void* to) { strcat(to, text); }

static Count by_print_out(void) {
  static void (*print)(void (*)(const char*, void*), void*);
  static char text[1 << 20];
  if (print == NULL) print = find("mi_stats_print_out");
  text[0] = '\0';
  print(append_to, text);
  if (strlen(text) < 100) abort();
  const char* groups = strstr(text, "groups: in use: ");
  return groups == NULL ? 0 : strtoull(groups + 16, NULL, 10);
}

static void collect(void) {
  ((void (*)(_Bool))find("mi_collect"))(1);
  printf("1 ");
}

// gperftools'.
static Count property(const char* name) {
  static int (*get)(const char*, size_t*);
  if (get == NULL) get = find("MallocExtension_GetNumericProperty");
  size_t number = 0;
  if (get(name, &number) == 0) abort();
  return number;
}
static Count by_property(void) {
  if (property("generic.current_allocated_bytes") > property("generic.heap_size")) abort();
  return property("generic.current_allocated_bytes");
}
static Count by_heap_size(void) { return property("generic.heap_size"); }

static Count by_get_stats(void) {
  static char text[1 << 16];
  ((void (*)(char*, int))find("MallocExtension_GetStats"))(text, sizeof text);
  const char* groups = strstr(text, "GROUPS: ");
  return groups == NULL ? 0 : strtoull(groups + 8, NULL, 10);
}

static void release_free(void) {
  ((void (*)(void))find("MallocExtension_ReleaseFreeMemory"))();
  printf("1 ");
}

static void release_some(void) {
  ((void (*)(size_t))find("MallocExtension_ReleaseToSystem"))(1);
  printf("1 ");
}

static const struct Interface {
  const char* name;
  Count (*in_use)(void);
  void (*trim)(void);
} interfaces[] = {
    {"mallinfo", by_mallinfo, NULL},
    {"mallinfo2", by_mallinfo2, trim},
    {"malloc_info", by_malloc_info, NULL},
    {"malloc_stats", by_malloc_stats, NULL},
    {"allocated", by_allocated, purge_arenas},
    {"active", by_active, purge_one_arena},
    {"resident", by_resident, NULL},
    {"mapped", by_mapped, NULL},
    {"all_arenas", by_all_arenas, NULL},
    {"all_pages", by_all_pages, NULL},
    {"mib", by_mib, purge_by_mib},
    {"old_epoch", by_old_epoch, NULL},
    {"stats_print", by_stats_print, NULL},
    {"process_info", by_process_info, collect},
    {"print_out", by_print_out, NULL},
    {"property", by_property, release_free},
    {"heap_size", by_heap_size, release_some},
    {"get_stats", by_get_stats, NULL},
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
