// The free lists, which the whole program shares.
#include "hospital/objects.h"

FreeObject* free_patients = NULL;
FreeObject* free_cells = NULL;
