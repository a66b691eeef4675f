// Lists of patients: every membership of a list is a cell of its own.
#include "hospital/list.h"

#include <stddef.h>

#include "hospital/objects.h"

void list_append(List* list, Patient* patient) {
  Cell* cell = cell_create();
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
  cell_destroy(cell);
}

void list_destroy(List* list) {
  while (list->first != NULL) {
    patient_destroy(list->first->patient);
    list_remove(list, list->first);
  }
}
