"""A program with large objects that pollute the last-level cache, and a hot one."""

# Sweeps over four large arrays, and counts in a small one in between.
POLLUTER = r"""
#include <stdio.h>
#include <stdlib.h>
enum { LARGE = 4 << 20, SMALL = 256 << 10 };
static char *make_polluter(void) { return calloc(1, LARGE); }
static char *make_hot(void) { return calloc(1, SMALL); }
int main(int argc, char **argv) {
  char *arrays[4], *hot = make_hot();
  unsigned sum = 0, seed = 1;
  for (int i = 0; i < 4; ++i) arrays[i] = make_polluter();
  for (long round = 0; round < atol(argv[1]); ++round)
    for (int i = 0; i < 4; ++i)
      for (int at = 0; at < LARGE; at += 64) {
        sum += ++arrays[i][at];
        for (int k = 0; k < 4; ++k) {
          seed = seed * 1103515245 + 12345;
          sum += ++hot[seed / 64 % SMALL];
        }
      }
  printf("%u\n", sum);
  for (int i = 0; i < 4; ++i) free(arrays[i]);
  free(hot);
  return 0;
}
"""
