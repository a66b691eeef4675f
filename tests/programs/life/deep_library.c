// A library with a function that the program also has in another library, and a function that
// frees.
#include <stdlib.h>

const char* name_of_owner(void) { return "library"; }

const char* bound_to(void) { return name_of_owner(); }

void drop(void* p) { free(p); }
