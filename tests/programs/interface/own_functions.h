// Reaches an allocator's own functions in every way that a program can, and makes blocks for them.
//
// Define OWN_FUNCTIONS(X) as a list of X(result, name, parameters, arguments) before. Compiled with
// -DLIBRARY, the file is a library that a program opens to call them from there. With -DLINKED,
// they are strong references, and the program is linked with the allocator; else weak ones.
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef LINKED
#define STRENGTH
#else
#define STRENGTH __attribute__((weak))
#endif

#define OWN_MEMBER(result, name, parameters, arguments) result(*name) parameters;
#define OWN_DECLARATION(result, name, parameters, arguments) STRENGTH result name parameters;
#define OWN_CALL(result, name, parameters, arguments) \
  static result call_##name parameters { return name arguments; }
#define OWN_CALL_ROW(result, name, parameters, arguments) functions.name = name ? call_##name : 0;
#define OWN_ROW(result, name, parameters, arguments) name,
#define OWN_LOOK_UP(result, name, parameters, arguments) \
  functions.name = (result(*) parameters)dlsym(handle, #name);

struct functions {
  OWN_FUNCTIONS(OWN_MEMBER)
};

OWN_FUNCTIONS(OWN_DECLARATION)
OWN_FUNCTIONS(OWN_CALL)

struct functions own_calls(void) {
  struct functions functions;
  OWN_FUNCTIONS(OWN_CALL_ROW)
  return functions;
}

#ifndef LIBRARY

static const struct functions own_pointers = {OWN_FUNCTIONS(OWN_ROW)};

static struct functions look_up(void* handle) {
  struct functions functions;
  OWN_FUNCTIONS(OWN_LOOK_UP)
  return functions;
}

// direct | pointer | default | handle PATH | library PATH
static struct functions find_functions(char** way) {
  if (strcmp(way[0], "direct") == 0) return own_calls();
  if (strcmp(way[0], "pointer") == 0) return own_pointers;
  if (strcmp(way[0], "default") == 0) return look_up(RTLD_DEFAULT);
  void* handle = dlopen(way[1], RTLD_NOW);
  if (handle == NULL) fprintf(stderr, "%s\n", dlerror()), exit(2);
  if (strcmp(way[0], "handle") == 0) return look_up(handle);
  return ((struct functions(*)(void))dlsym(handle, "own_calls"))();
}

// Prints what does not hold, and goes on.
static int failures = 0;
#define EXPECT(what) ((what) ? (void)0 : (void)(++failures, printf("%d: %s\n", __LINE__, #what)))

// A maker of blocks with contents that depend on the size: by malloc, which the plan groups, or of
// the allocator itself.
typedef void* (*maker)(size_t);
static unsigned char byte_of(size_t size, size_t at) { return (unsigned char)(size * 7 + at * 13); }
static void* fill(void* p, size_t size) {
  for (size_t at = 0; p != NULL && at < size; ++at) ((unsigned char*)p)[at] = byte_of(size, at);
  return p;
}
static bool holds(const void* p, size_t size, size_t bytes) {
  for (size_t at = 0; at < bytes; ++at)
    if (((const unsigned char*)p)[at] != byte_of(size, at)) return false;
  return true;
}
static bool is_zero(const void* p, size_t begin, size_t end) {
  for (size_t at = begin; at < end; ++at)
    if (((const unsigned char*)p)[at] != 0) return false;
  return true;
}
static bool is_aligned(const void* p, size_t to) { return (uintptr_t)p % to == 0; }
// Large blocks have a call site of their own.
__attribute__((noinline)) static void* large_block(size_t size) { return malloc(size); }
__attribute__((noinline)) static void* by_malloc(size_t size) {
  return fill(size > 65536 ? large_block(size) : malloc(size), size);
}

// Frees blocks in an order of its own, with others in between, so that one that is lost or served
// twice shows. `release` frees a block that was made with that size.
enum { LIVE = 500 };
static void churn(maker make, void (*release)(void*, size_t)) {
  static void* blocks[LIVE];
  static size_t sizes[LIVE];
  unsigned seed = 1;
  for (int i = 0; i < 20 * LIVE; ++i) {
    seed = seed * 1103515245 + 12345;
    const int at = (seed >> 16) % LIVE;
    if (blocks[at] != NULL) {
      if (!holds(blocks[at], sizes[at], sizes[at])) abort();
      release(blocks[at], sizes[at]);
    }
    sizes[at] = 8 + (seed >> 8) % 200;
    blocks[at] = make(sizes[at]);
  }
  for (int at = 0; at < LIVE; ++at) {
    if (blocks[at] != NULL) release(blocks[at], sizes[at]);
    blocks[at] = NULL;
  }
}

static void release_by_free(void* p, size_t size) { free(p); }

// What the allocator's file checks, by `functions`.
static void check(const struct functions* functions);

// `free`: for a recording, for which the allocator need not be there. It has a large block, too.
int main(int argc, char** argv) {
  if (strcmp(argv[1], "free") == 0) {
    churn(by_malloc, release_by_free);
    release_by_free(by_malloc(150000), 150000);
    return 0;
  }
  const struct functions functions = find_functions(argv + 1);
  check(&functions);
  puts(failures == 0 ? "fine" : "failed");
  return failures != 0;
}

#endif
