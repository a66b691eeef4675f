// The C library's own names of the allocation functions, by which some programs call them.
//
//   libc_names grouped|own|mixed
//
// grouped: blocks of a group, freed by this thread and by another. own: blocks that these names
// allocate and free. mixed: blocks that are allocated by one name and freed by the other, if the
// next allocator has both.
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);
extern void* __libc_valloc(size_t);
extern void* __libc_pvalloc(size_t);
extern void __libc_free(void*);

enum { rounds = 1000, small = 40, large = 9000 };

// Volatile: one byte at a time.
static void* filled(void* p, size_t size) {
  volatile char* bytes = p;
  for (size_t i = 0; i < size; ++i) bytes[i] = 'x';
  return p;
}
static void* checked(void* p, size_t size) {
  for (size_t i = 0; i < size; ++i)
    if (((char*)p)[i] != 'x') abort();
  return p;
}

static void* take(size_t size) { return filled(malloc(size), size); }

static void grouped(void) {
  for (int i = 0; i < rounds; ++i) {
    __libc_free(take(small));
    __libc_free(checked(__libc_realloc(take(small), large), small));
    __libc_free(checked(__libc_realloc(take(small), small / 2), small / 2));
    void* rest = __libc_realloc(take(small), 0);
    if (rest != NULL) __libc_free(rest);
  }
}

static void* drop_by_turns(void* blocks) {
  for (int i = 0; i < rounds; ++i) {
    void* p = checked(((void**)blocks)[i], small);
    __libc_free(i % 2 ? p : checked(__libc_realloc(p, large), small));
  }
  return NULL;
}

static void grouped_elsewhere(void) {
  static void* blocks[rounds];
  pthread_t thread;
  for (int i = 0; i < rounds; ++i) blocks[i] = take(small);
  if (pthread_create(&thread, NULL, drop_by_turns, blocks) != 0) abort();
  pthread_join(thread, NULL);
}

static void own(void) {
  for (int i = 0; i < rounds; ++i) {
    __libc_free(filled(__libc_malloc(small), small));
    __libc_free(filled(__libc_calloc(2, small), 2 * small));
    __libc_free(checked(__libc_realloc(filled(__libc_malloc(small), small), large), small));
    void* aligned = __libc_memalign(256, small);
    if ((uintptr_t)aligned % 256) abort();
    __libc_free(filled(aligned, small));
    __libc_free(filled(__libc_valloc(small), small));
    __libc_free(filled(__libc_pvalloc(small), small));
    __libc_free(NULL);
  }
}

static void mixed(void) {
  for (int i = 0; i < rounds; ++i) {
    void* p = filled(__libc_malloc(small), small);
    if (malloc_usable_size(p) < small) abort();
    free(checked(realloc(p, large), small));
    free(filled(__libc_memalign(64, small), small));
    free(filled(__libc_calloc(3, small), 3 * small));
    free(filled(__libc_valloc(small), small));
    free(filled(__libc_pvalloc(small), small));
    free(filled(__libc_realloc(NULL, small), small));
    free(checked(reallocarray(filled(__libc_malloc(small), small), 2, large), small));
    __libc_free(filled(calloc(1, large), large));
    __libc_free(filled(memalign(64, small), small));
    __libc_free(take(large));
    __libc_free(checked(__libc_realloc(take(large), 2 * large), large));
  }
}

int main(int argc, char** argv) {
  for (int i = 0; i < rounds; ++i) free(take(small));
  for (int i = 1; i < argc; ++i) {
    if (!strcmp(argv[i], "grouped")) grouped(), grouped_elsewhere();
    if (!strcmp(argv[i], "own")) own();
    if (!strcmp(argv[i], "mixed")) mixed();
  }
  puts("fine");
}
