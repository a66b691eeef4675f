// The log of small_malloc: foreign pointers, unchanged.
#pragma once

#include <stddef.h>

enum { next_log_room = 64 };

struct next_log {
  unsigned count;
  struct {
    void* p;
    size_t size;  // requested by realloc, 0 for free
  } entries[next_log_room];
};
