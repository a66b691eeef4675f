/* Logs argv[1] events that no compression makes small. */
#include "sites.h"

int main(int argc, char** argv) {
  const long count = argc > 1 ? atol(argv[1]) : 0;
  uint64_t x = 88172645463325252u;
  for (long i = 0; i < count; ++i) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    event(&table.sites[0], x, x * 3);
  }
  return 7;
}
