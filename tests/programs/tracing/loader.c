/* Loads, uses and unloads the modules argv[2...], argv[1] times; prints how many lay where the one
   before had been. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const void* last = NULL;
  int same = 0;
  for (int round = 0; round < atoi(argv[1]); ++round) {
    for (int i = 2; i < argc; ++i) {
      void* module = dlopen(argv[i], RTLD_NOW);
      if (module == NULL) return 2;
      void (*work)(long) = (void (*)(long))dlsym(module, "work");
      same += (const void*)work == last;
      last = (const void*)work;
      work(100 * (i - 1));
      dlclose(module);
    }
  }
  printf("%d\n", same);
  return 7;
}
