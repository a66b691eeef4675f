// Records of 40 bytes, which the compiler may assume to be aligned to 16. A first pass reads them
// word by word; with the argument `all`, a second one uses instructions that require the alignment.
#include <emmintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { count = 20000 };

struct record {
  uint32_t words[8];
  struct record* next;
};
_Static_assert(sizeof(struct record) == 40, "not a multiple of 16");

static struct record* make(uint32_t i, struct record* next) {
  struct record* record = malloc(sizeof *record);
  for (uint32_t k = 0; k < 8; ++k) ((volatile uint32_t*)record->words)[k] = i * 7 + k;
  record->next = next;
  return record;
}

static uint64_t sum_of_words(const struct record* record) {
  uint64_t sum = 0;
  for (; record != NULL; record = record->next)
    for (int k = 0; k < 8; ++k) sum = sum * 3 + ((const volatile uint32_t*)record->words)[k];
  return sum;
}

static uint64_t sum_of_vectors(struct record* record) {
  __m128i sum = _mm_setzero_si128();
  for (; record != NULL; record = record->next) {
    __m128i* half = (__m128i*)record->words;
    _mm_store_si128(&half[0], _mm_xor_si128(_mm_load_si128(&half[0]), _mm_load_si128(&half[1])));
    sum = _mm_add_epi32(sum, _mm_load_si128(&half[0]));
  }
  uint32_t lanes[4];
  _mm_storeu_si128((__m128i*)lanes, sum);
  return lanes[0] + 3 * lanes[1] + 5 * lanes[2] + 7 * lanes[3];
}

int main(int argc, char** argv) {
  struct record* all = NULL;
  for (uint32_t i = 0; i < count; ++i) all = make(i, all);
  uint64_t sum = 0;
  for (int i = 0; i < 5; ++i) sum += sum_of_words(all);
  if (argc > 1 && strcmp(argv[1], "all") == 0) sum ^= sum_of_vectors(all);
  printf("%llu\n", (unsigned long long)sum);
  while (all != NULL) {
    struct record* next = all->next;
    free(all);
    all = next;
  }
}
