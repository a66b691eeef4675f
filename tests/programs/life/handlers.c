// More atexit handlers than glibc has room for, registered before the first malloc of the process
// and from within handlers; each allocates.
#include <stdio.h>
#include <stdlib.h>

#include "sites.h"

enum { handlers = 100 };
static int early, late, nested, grouped;

static int use(void) {
  void* p = left_make(object_bytes);
  int answer = is_grouped(p);
  release_block(p);
  return answer;
}

// These run last: they were registered before all others.
static void early_handler(void) {
  use();
  if (++early == handlers) printf("%d %d %d, %d grouped\n", early, late, nested, grouped);
}

static void nested_handler(void) {
  grouped += use();
  ++nested;
}

static void late_handler(void) {
  grouped += use();
  ++late;
  if (atexit(nested_handler) != 0) abort();
}

static void before_everything(void) {
  for (int i = 0; i < handlers; ++i)
    if (atexit(early_handler) != 0) abort();
}

__attribute__((section(".preinit_array"),
               used)) static void (*const first)(void) = before_everything;

int main(void) {
  for (int i = 0; i < handlers; ++i)
    if (atexit(late_handler) != 0) abort();
}
