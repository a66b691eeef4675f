// What small_malloc writes down: pointers that it did not hand out, as they came.
#pragma once

#include <stddef.h>

enum { next_log_room = 64 };

struct next_log {
  unsigned count;
  struct {
    void* p;
    size_t size;  // that realloc asked for, 0 for free
  } entries[next_log_room];
};
