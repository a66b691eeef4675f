// A library whose thread-local memory is one small block, which the loader allocates on first use.
#include "sites.h"

static __thread char small[object_bytes];

char* small_block(void) { return small; }
