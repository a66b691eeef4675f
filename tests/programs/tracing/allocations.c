/* Allocates argv[1] objects itself and argv[2] by strdup, and frees them all. */
#include <string.h>

#include "sites.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  for (int i = 0; i < atoi(argv[1]); ++i) {
    void* volatile object = malloc(40);
    free(object);
  }
  for (int i = 0; i < atoi(argv[2]); ++i) {
    char* volatile copy = strdup("some text");
    free(copy);
  }
  return 7;
}
