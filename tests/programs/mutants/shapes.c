// A small program with every kind of frame in plans: constant distances, frame pointers, recursion,
// another thread, calls by pointer. All of its objects are checked before they are freed.
#include <alloca.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { rounds = 40, max_kept = 64 };

struct block {
  uint32_t size, mark;
  unsigned char bytes[];
};

static struct block* filled(struct block* block, uint32_t size, uint32_t mark) {
  block->size = size;
  block->mark = mark;
  for (uint32_t i = 0; i < size; ++i) block->bytes[i] = (unsigned char)(mark + i);
  return block;
}

static struct block* make(uint32_t size, uint32_t mark) {
  return filled(malloc(sizeof(struct block) + size), size, mark);
}

static struct block* make_cleared(uint32_t size, uint32_t mark) {
  struct block* block = calloc(1, sizeof *block + size);
  for (uint32_t i = 0; i < size; ++i)
    if (block->bytes[i] != 0) abort();
  return filled(block, size, mark);
}

static struct block* grow(struct block* block, uint32_t size) {
  const uint32_t kept = block->size < size ? block->size : size, mark = block->mark;
  struct block* moved = realloc(block, sizeof *block + size);
  for (uint32_t i = 0; i < kept; ++i)
    if (moved->bytes[i] != (unsigned char)(mark + i)) abort();
  return filled(moved, size, mark);
}

static uint64_t drop(struct block* block) {
  uint64_t sum = block->mark;
  for (uint32_t i = 0; i < block->size; ++i) {
    if (block->bytes[i] != (unsigned char)(block->mark + i)) abort();
    sum = sum * 31 + block->bytes[i];
  }
  free(block);
  return sum;
}

// A frame whose size only its frame pointer reveals.
static struct block* make_in_wide_frame(uint32_t size, uint32_t mark) {
  volatile char* room = alloca(16 + mark % 200);
  room[0] = (char)mark;
  struct block* block = make(size, mark);
  block->mark += (uint32_t)(room[0] - (char)mark);
  return block;
}

static struct block* make_deep(uint32_t size, uint32_t mark, int depth) {
  if (depth == 0) return make_in_wide_frame(size, mark);
  struct block* block = make_deep(size + 1, mark, depth - 1);
  return depth == 3 ? grow(block, size) : block;
}

static struct block* make_left(uint32_t size, uint32_t mark) {
  struct block* block = make_cleared(size, mark);
  return block->size == size ? block : NULL;
}

static struct block* make_right(uint32_t size, uint32_t mark) {
  struct block* block = make_cleared(size + 3, mark);
  return block->mark == mark ? block : NULL;
}

static struct block* make_deeper(uint32_t size, uint32_t mark) {
  return make_deep(size, mark, (int)(mark % 5));
}

typedef struct block* (*maker)(uint32_t, uint32_t);
static const maker makers[] = {make, make_left, make_right, make_in_wide_frame, make_deeper};

static uint64_t work(uint32_t seed) {
  struct block* kept[max_kept] = {0};
  uint64_t sum = 0;
  for (uint32_t i = 0; i < rounds * max_kept; ++i) {
    seed = seed * 1103515245 + 12345;
    struct block** at = &kept[(seed >> 8) % max_kept];
    if (*at != NULL) sum = sum * 7 + drop(*at);
    *at = makers[(seed >> 16) % 5]((seed >> 20) % 200, i);
  }
  for (int i = 0; i < max_kept; ++i)
    if (kept[i] != NULL) sum = sum * 7 + drop(kept[i]);
  return sum;
}

static void* work_in_thread(void* sum) {
  *(uint64_t*)sum = work(2);
  return NULL;
}

int main(void) {
  uint64_t mine, others;
  pthread_t thread;
  if (pthread_create(&thread, NULL, work_in_thread, &others) != 0) return 1;
  mine = work(1);
  pthread_join(thread, NULL);
  printf("%llx %llx\n", (unsigned long long)mine, (unsigned long long)others);
}
