// Makes and destroys the patients of the simulation and the cells of its lists: with a free list
// for each of the two types.
#pragma once

#include <stdlib.h>

#include "common/memory.h"
#include "hospital/list.h"

// A destroyed object: its memory holds the link.
typedef struct FreeObject {
  struct FreeObject* next;
} FreeObject;

extern FreeObject* free_patients;
extern FreeObject* free_cells;

static inline void* free_list_take(FreeObject** list, size_t size) {
  FreeObject* object = *list;
  if (object == NULL) {
    return require_memory(malloc(size));
  }
  *list = object->next;
  return object;
}

static inline void free_list_put(FreeObject** list, void* memory) {
  FreeObject* object = memory;
  object->next = *list;
  *list = object;
}

static inline Patient* patient_create(void) {
  return free_list_take(&free_patients, sizeof(Patient));
}
static inline void patient_destroy(Patient* patient) { free_list_put(&free_patients, patient); }

static inline Cell* cell_create(void) { return free_list_take(&free_cells, sizeof(Cell)); }
static inline void cell_destroy(Cell* cell) { free_list_put(&free_cells, cell); }
