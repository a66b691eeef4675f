// A next allocator to preload, without malloc_usable_size, reallocarray, valloc and pvalloc. It
// recognises its own blocks exactly. It logs other pointers, or aborts with TOLERATES_NOTHING.
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "next_log.h"

struct next_log next_log;

struct header {
  uint64_t mark;
  size_t size;
};
static const uint64_t live = 0x11FEB10C, dead = 0xDEADB10C;
static const size_t room = (size_t)4 << 30;
static char* memory;
static size_t used;

static char* region(void) {
  char* now = __atomic_load_n(&memory, __ATOMIC_ACQUIRE);
  if (now != NULL) return now;
  char* fresh =
      mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (fresh == MAP_FAILED) abort();
  if (__atomic_compare_exchange_n(&memory, &now, fresh, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return fresh;
  munmap(fresh, room);
  return now;
}

static struct header* header_of(void* p) {
  char *begin = region(), *at = p;
  if (at < begin + sizeof(struct header) || at >= begin + room || (uintptr_t)p % 16) return NULL;
  struct header* header = (struct header*)p - 1;
  if (header->mark == dead) abort();
  return header->mark == live ? header : NULL;
}

static void note(void* p, size_t size) {
#ifdef TOLERATES_NOTHING
  abort();
#endif
  const unsigned at = __atomic_fetch_add(&next_log.count, 1, __ATOMIC_RELAXED);
  next_log.entries[at % next_log_room].p = p;
  next_log.entries[at % next_log_room].size = size;
}

void* memalign(size_t alignment, size_t size) {
  if (alignment < 16) alignment = 16;
  if (size > room / 2 || alignment > room / 2) return errno = ENOMEM, NULL;
  const size_t need = (size + sizeof(struct header) + alignment + 15) & ~(size_t)15;
  const size_t at = __atomic_fetch_add(&used, need, __ATOMIC_RELAXED);
  if (at + need > room) return errno = ENOMEM, NULL;
  uintptr_t p = (uintptr_t)region() + at + sizeof(struct header);
  p = (p + alignment - 1) & ~(alignment - 1);
  ((struct header*)p)[-1] = (struct header){live, size};
  return (void*)p;
}

void* malloc(size_t size) { return memalign(16, size); }
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void** into, size_t alignment, size_t size) {
  if (alignment % sizeof(void*) || (alignment & (alignment - 1)) || alignment == 0) return EINVAL;
  void* p = memalign(alignment, size);
  if (p == NULL) return ENOMEM;
  *into = p;
  return 0;
}

// Memory is never reused, so it is zero.
void* calloc(size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) return errno = ENOMEM, NULL;
  return malloc(bytes);
}

void free(void* p) {
  if (p == NULL) return;
  struct header* header = header_of(p);
  if (header == NULL)
    note(p, 0);
  else
    header->mark = dead;
}

void* realloc(void* p, size_t size) {
  if (p == NULL) return malloc(size);
  struct header* header = header_of(p);
  if (header == NULL) return note(p, size), NULL;
  if (size == 0) return free(p), NULL;
  void* moved = malloc(size);
  if (moved == NULL) return NULL;
  memcpy(moved, p, header->size < size ? header->size : size);
  free(p);
  return moved;
}
