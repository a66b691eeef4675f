"""C programs that several tests compile, record and run."""

from __future__ import annotations

LIST = """
#include <stdio.h>
#include <stdlib.h>
struct node { struct node *next; long value; };
static struct node *push(struct node *head, long value) {
  struct node *node = malloc(sizeof *node);
  node->next = head;
  node->value = value;
  return node;
}
int main(int argc, char **argv) {
  long count = argc > 1 ? atol(argv[1]) : 1000, sum = 0;
  struct node *list = 0, *other = 0;
  for (long i = 0; i < count; ++i) {
    list = push(list, i);
    other = push(other, i);
    free(malloc(200));
  }
  for (int round = 0; round < 20; ++round)
    for (struct node *node = list; node; node = node->next) sum += node->value;
  printf("%ld\\n", sum);
  return 7;
}
"""


EXCEPTIONS = r"""
#include <stdexcept>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
static jmp_buf env;
struct Thing { long a[3]; };
static Thing *make(long i) { Thing *t = new Thing; t->a[0] = i; return t; }
static long throwing(long i) {
  Thing *t = make(i);
  if (i % 3 == 0) throw std::runtime_error("third");
  return t->a[0];
}
static long jumping(long i) {
  Thing *t = make(i);
  if (i % 4 == 0) longjmp(env, 1);
  return t->a[0];
}
int main(int argc, char **argv) {
  volatile long sum = 0, caught = 0, jumped = 0;
  long n = atoi(argv[1]);
  for (volatile long i = 0; i < n; ++i) {
    try { sum += throwing(i); } catch (const std::exception &) { ++caught; }
    if (setjmp(env) == 0) sum += jumping(i); else ++jumped;
  }
  printf("%ld %ld %ld\n", (long)sum, (long)caught, (long)jumped);
}
"""
PLUGIN = r"""
#include <stdlib.h>
__attribute__((noinline)) static void *inner(size_t n) { char *p = malloc(n); p[0] = 1; return p; }
void *plugin_make(size_t n) { char *p = inner(n); p[1] = 1; return p; }
"""
HOST = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
typedef void *(*maker)(size_t);
static int use(const char *path, int n) {
  void *handle = dlopen(path, RTLD_NOW);
  if (!handle) return fprintf(stderr, "%s\n", dlerror()), 1;
  maker make = (maker)dlsym(handle, "plugin_make");
  for (int i = 0; i < n; ++i) { char *p = make(32); p[2] = p[0] + p[1]; free(p); }
  return dlclose(handle);
}
int main(int argc, char **argv) {
  int n = atoi(argv[1]), rounds = atoi(argv[2]);
  for (int round = 0; round < rounds; ++round)
    for (int i = 3; i < argc; ++i)
      if (use(argv[i], n)) return 1;
  puts("done");
}
"""
