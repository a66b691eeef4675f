// A library with a function that the program has in another, and one that frees.
#include <stdlib.h>

const char* name_of_owner(void) { return "library"; }

const char* bound_to(void) { return name_of_owner(); }

void drop(void* p) { free(p); }
