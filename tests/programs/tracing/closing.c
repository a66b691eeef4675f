/* Closes every descriptor, as daemons do, then fills all numbers with a file of its own. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "sites.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  for (int i = 0; i < 1000; ++i) event(&table.sites[0], 0x1000, 1);
  usleep(200000); /* the trace has begun */
  for (int i = 3; i < 65536; ++i) close(i);
  const int mine = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0666);
  while (dup(mine) >= 0) {
  }
  for (int i = 0; i < 100000; ++i) event(&table.sites[0], 0x1000, 1);
  if (write(mine, "mine\n", strlen("mine\n")) != 5) return 3;
  return 7;
}
