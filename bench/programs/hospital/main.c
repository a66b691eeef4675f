// hospital: a health care system as a tree of villages, after Olden's description of health.
#include <inttypes.h>
#include <stdio.h>

#include "common/args.h"
#include "common/checksum.h"
#include "hospital/village.h"

typedef struct Summary {
  int64_t treated;
  int64_t in_care;
  uint64_t checksum;
} Summary;

static void add_list(Summary* summary, const List* list) {
  for (const Cell* cell = list->first; cell != NULL; cell = cell->next) {
    const Patient* patient = cell->patient;
    ++summary->in_care;
    summary->checksum = checksum_add(summary->checksum, (uint64_t)patient->steps_in_care);
    summary->checksum = checksum_add(summary->checksum, (uint64_t)patient->hospitals_visited);
  }
}

static void add_village(Summary* summary, const Village* village) {
  for (int i = 0; i < kVillagesPerDistrict; ++i) {
    if (village->children[i] != NULL) {
      add_village(summary, village->children[i]);
    }
  }
  add_list(summary, &village->hospital.waiting);
  add_list(summary, &village->hospital.assess);
  add_list(summary, &village->hospital.inside);
  add_list(summary, &village->hospital.referred);
  summary->treated += village->treated;
  summary->checksum = checksum_add(summary->checksum, (uint64_t)village->steps_of_care);
  summary->checksum = checksum_add(summary->checksum, (uint64_t)village->hospitals_seen);
}

int main(int argc, char** argv) {
  Argument arguments[] = {{"levels", 0, 12, 0}, {"steps", 0, 100000, 0}, {"seed", 0, 1 << 30, 0}};
  read_arguments(argc, argv, arguments, 3);
  const int levels = (int)arguments[0].value;
  const long steps = arguments[1].value;

  Village* root = village_create(NULL, levels, (uint64_t)arguments[2].value);
  for (long step = 0; step < steps; ++step) {
    village_step(root);
  }
  Summary summary = {0, 0, 0};
  add_village(&summary, root);
  village_destroy(root);
  printf("hospital: %" PRId64 " patients treated, %" PRId64 " in care\nchecksum %016" PRIx64 "\n",
         summary.treated, summary.in_care, summary.checksum);
  return 0;
}
