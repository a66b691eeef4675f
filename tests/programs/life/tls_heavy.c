// A library with much thread-local memory, which the loader allocates on first use.
#include <string.h>

__thread char heavy[1 << 20];
__thread char light[200];

int heavy_touch(int mark) {
  memset(heavy, mark, sizeof heavy);
  memset(light, mark, sizeof light);
  return heavy[sizeof heavy - 1] + light[sizeof light - 1];
}
