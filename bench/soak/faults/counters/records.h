// A table of records by key, which does not change once it is made.
#pragma once

#include <stdint.h>

typedef struct Record {
  uint32_t key;
  uint32_t value;
} Record;

typedef struct Records {
  Record* slots;  // a power of two of them; a key of 0 is an empty one
  uint32_t mask;
} Records;

// Keys from 1 to 2 * count, drawn at random until `count` slots are filled.
Records records_create(uint32_t count, uint64_t seed);
void records_free(Records* records);
// Null if none is found.
const Record* records_find(const Records* records, uint32_t key);
