// Lists of patients: every membership of a list is a cell of its own.
#include "hospital/list.h"

#include <stdlib.h>

#include "common/memory.h"

void list_append(List* list, Patient* patient) {
  Cell* cell = require_memory(malloc(sizeof *cell));
  cell->patient = patient;
  cell->next = NULL;
  cell->previous = list->last;
  if (list->last != NULL) {
    list->last->next = cell;
  } else {
    list->first = cell;
  }
  list->last = cell;
}

void list_remove(List* list, Cell* cell) {
  if (cell->previous != NULL) {
    cell->previous->next = cell->next;
  } else {
    list->first = cell->next;
  }
  if (cell->next != NULL) {
    cell->next->previous = cell->previous;
  } else {
    list->last = cell->previous;
  }
  free(cell);
}

void list_destroy(List* list) {
  while (list->first != NULL) {
    free(list->first->patient);
    list_remove(list, list->first);
  }
}
