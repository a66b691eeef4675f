/* A module to load: logs argument events of its own sites, which are of line LINE. */
#include "sites.h"

void work(long count) {
  for (long i = 0; i < count; ++i) event(&table.sites[0], 0x3000, 1);
}
