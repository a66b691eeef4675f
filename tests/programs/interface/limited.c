// Allocates until there is no more, in a process whose address space is limited: errno is ENOMEM
// then, and unchanged by everything that succeeds.
//
//   limited [until there is no more]
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { untouched = 77, few = 1000 };
struct link {
  struct link* next;
};
static struct link* all;

static struct link* take(long i) {
  if (i % 3 == 0) return calloc(1, 600);
  if (i % 3 == 1) return realloc(malloc(200), 600);
  return malloc(600);
}

// False: memory has run out.
static int keep(struct link* link) {
  if (errno != (link == NULL ? ENOMEM : untouched)) printf("errno is %d\n", errno);
  if (link == NULL) return 0;
  link->next = all;
  all = link;
  return 1;
}

static int take_one(long i) {
  errno = untouched;
  return keep(take(i));
}

// Never in a group.
static int take_a_large_one(void) {
  errno = untouched;
  return keep(malloc(60000));
}

static void drop_all(void) {
  while (all != NULL) {
    struct link* link = all;
    all = link->next;
    errno = untouched;
    free(link);
    if (errno != untouched) printf("free sets errno to %d\n", errno);
  }
}

// A site that is not in the recording.
static void* of_the_next_allocator(void) { return malloc(600); }

int main(int argc, char** argv) {
  long made = 0;
  while (argc > 1 && take_a_large_one()) ++made;
  while ((argc > 1 || made < few) && take_one(made)) ++made;
  if (argc > 1 && of_the_next_allocator() != NULL) puts("the next allocator has more");
  drop_all();
  for (long i = 0; i < few; ++i)
    if (!take_one(i)) puts("refused after everything was freed");
  drop_all();
  puts(made >= few ? "fine" : "too few");
}
