// Reads keys line by line and looks each up.
#include "counters/worker.h"

#include <stddef.h>

#include "common/rng.h"
#include "counters/statistics.h"

// Past the end of the line.
static const char* read_key(const char* text, uint32_t* key) {
  uint32_t value = 0;
  for (; *text != '\n'; ++text) {
    value = value * 10 + (uint32_t)(*text - '0');
  }
  *key = value;
  return text + 1;
}

void* worker_run(void* argument) {
  Worker* worker = argument;
  uint64_t checksum = 0;
  for (long pass = 0; pass < worker->passes; ++pass) {
    for (const char* text = worker->text; text < worker->end;) {
      uint32_t key;
      text = read_key(text, &key);
      const Record* record = records_find(worker->records, key);
      count_look_up(worker->number);
      if (record != NULL) {
        checksum += mix64(record->value);
      } else {
        count_miss(worker->number);
      }
    }
  }
  worker->checksum = checksum;
  return NULL;
}
