// Makes and destroys the patients of the simulation and the cells of its lists: each by a malloc
// and a free of its own.
#pragma once

#include <stdlib.h>

#include "common/memory.h"
#include "hospital/list.h"

static inline Patient* patient_create(void) { return require_memory(malloc(sizeof(Patient))); }
static inline void patient_destroy(Patient* patient) { free(patient); }

static inline Cell* cell_create(void) { return require_memory(malloc(sizeof(Cell))); }
static inline void cell_destroy(Cell* cell) { free(cell); }
