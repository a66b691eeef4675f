// An open-addressing hash table.
#include "counters/records.h"

#include "common/memory.h"
#include "common/rng.h"

// Where the key is or belongs; the table is never full.
static Record* slot_of(const Records* records, uint32_t key) {
  uint32_t at = (uint32_t)mix64(key) & records->mask;
  while (records->slots[at].key != 0 && records->slots[at].key != key) {
    at = (at + 1) & records->mask;
  }
  return &records->slots[at];
}

Records records_create(uint32_t count, uint64_t seed) {
  uint32_t slots = 2;
  while (slots < 2 * count) {
    slots *= 2;
  }
  Records records = {require_memory(calloc(slots, sizeof(Record))), slots - 1};
  Rng rng = {mix64(seed)};
  for (uint32_t made = 0; made < count;) {
    const uint32_t key = 1 + rng_below(&rng, 2 * count);
    Record* slot = slot_of(&records, key);
    if (slot->key == 0) {
      *slot = (Record){key, (uint32_t)rng_next(&rng)};
      ++made;
    }
  }
  return records;
}

void records_free(Records* records) { free(records->slots); }

const Record* records_find(const Records* records, uint32_t key) {
  const Record* slot = slot_of(records, key);
  return slot->key == key ? slot : NULL;
}
