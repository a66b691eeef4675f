// Opens a library with RTLD_DEEPBIND. It calls a function that the program also has in another
// library, and frees blocks that the program has allocated. Argument: the library.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "sites.h"

typedef void (*dropper)(void*);
typedef const char* (*namer)(void);
const char* name_of_owner(void);

int main(int argc, char** argv) {
  volatile int deep = RTLD_NOW | RTLD_DEEPBIND;
  int grouped = 0;
  (void)argc;
  void* handle = dlopen(argv[1], deep);
  const char* owner = ((namer)dlsym(handle, "bound_to"))();
  dropper drop = (dropper)dlsym(handle, "drop");
  for (int i = 0; i < 100; ++i) {
    void* p = left_make(object_bytes);
    grouped += is_grouped(p);
    drop(p);
  }
  if (strcmp(name_of_owner(), "program") != 0) return 1;
  printf("bound to the %s, %d grouped\n", owner, grouped);
}
