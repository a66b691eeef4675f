// Lists of patients: every membership of a list is a cell of its own.
#pragma once

#include <stdint.h>

struct Village;

typedef struct Patient {
  struct Village* home;
  int32_t hospitals_visited;
  int32_t steps_in_care;
  int32_t steps_left;  // of the assessment or treatment under way
} Patient;

typedef struct Cell {
  struct Cell* next;
  struct Cell* previous;
  Patient* patient;
} Cell;

typedef struct List {
  Cell* first;
  Cell* last;
} List;

void list_append(List* list, Patient* patient);

// Takes the cell out of the list and frees it; the patient lives on.
void list_remove(List* list, Cell* cell);

// Frees all cells and their patients.
void list_destroy(List* list);
