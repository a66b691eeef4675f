// One step of time: patients fall ill, wait, are assessed, and are treated or referred upwards.
#include <stdbool.h>
#include <stddef.h>

#include "hospital/objects.h"
#include "hospital/village.h"

enum {
  kAssessmentSteps = 3,
  kTreatmentSteps = 10,
  kReferralPercent = 10,
  kIllnessPercent = 33,
};

static bool is_leaf(const Village* village) { return village->children[0] == NULL; }

static void arrive(Hospital* hospital, Patient* patient) {
  ++patient->hospitals_visited;
  list_append(&hospital->waiting, patient);
}

static void discharge(Patient* patient) {
  Village* home = patient->home;
  ++home->treated;
  home->steps_of_care += patient->steps_in_care;
  home->hospitals_seen += patient->hospitals_visited;
  patient_destroy(patient);
}

static void collect_referred(Hospital* hospital, Village* child) {
  List* referred = &child->hospital.referred;
  while (referred->first != NULL) {
    Patient* patient = referred->first->patient;
    list_remove(referred, referred->first);
    arrive(hospital, patient);
  }
}

static void treat_inside(Hospital* hospital) {
  for (Cell* cell = hospital->inside.first; cell != NULL;) {
    Cell* next = cell->next;
    Patient* patient = cell->patient;
    ++patient->steps_in_care;
    if (--patient->steps_left == 0) {
      ++hospital->free_staff;
      list_remove(&hospital->inside, cell);
      discharge(patient);
    }
    cell = next;
  }
}

static void finish_assessments(Village* village) {
  Hospital* hospital = &village->hospital;
  for (Cell* cell = hospital->assess.first; cell != NULL;) {
    Cell* next = cell->next;
    Patient* patient = cell->patient;
    ++patient->steps_in_care;
    if (--patient->steps_left == 0) {
      list_remove(&hospital->assess, cell);
      if (village->parent != NULL && rng_below(&village->rng, 100) < kReferralPercent) {
        ++hospital->free_staff;
        list_append(&hospital->referred, patient);
      } else {
        patient->steps_left = kTreatmentSteps;
        list_append(&hospital->inside, patient);
      }
    }
    cell = next;
  }
}

static void admit_waiting(Hospital* hospital) {
  for (Cell* cell = hospital->waiting.first; cell != NULL;) {
    Cell* next = cell->next;
    Patient* patient = cell->patient;
    ++patient->steps_in_care;
    if (hospital->free_staff > 0) {
      --hospital->free_staff;
      patient->steps_left = kAssessmentSteps;
      list_remove(&hospital->waiting, cell);
      list_append(&hospital->assess, patient);
    }
    cell = next;
  }
}

static void fall_ill(Village* village) {
  if (rng_below(&village->rng, 100) >= kIllnessPercent) {
    return;
  }
  Patient* patient = patient_create();
  *patient = (Patient){.home = village};
  arrive(&village->hospital, patient);
}

void village_step(Village* village) {
  Hospital* hospital = &village->hospital;
  if (!is_leaf(village)) {
    for (int i = 0; i < kVillagesPerDistrict; ++i) {
      village_step(village->children[i]);
      collect_referred(hospital, village->children[i]);
    }
  }
  treat_inside(hospital);
  finish_assessments(village);
  admit_waiting(hospital);
  if (is_leaf(village)) {
    fall_ill(village);
  }
}
