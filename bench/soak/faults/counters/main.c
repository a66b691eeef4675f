// counters: worker threads look records up and count that, after Miucin, section 2.3.3
// (WiredTiger).
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/args.h"
#include "common/checksum.h"
#include "common/memory.h"
#include "common/rng.h"
#include "counters/statistics.h"
#include "counters/worker.h"

enum { kLongestLine = 12, kKeysPerMiss = 16 };

typedef struct Text {
  char* begin;
  char* end;
} Text;

// One key of kKeysPerMiss is above those of the records.
static Text text_create(uint32_t keys, uint32_t records, uint64_t seed) {
  Rng rng = {mix64(seed + 1)};
  char* begin = require_memory(malloc((size_t)keys * kLongestLine + 1));
  char* end = begin;
  for (uint32_t i = 0; i < keys; ++i) {
    const uint32_t beyond = rng_below(&rng, kKeysPerMiss) == 0 ? 2 * records : 0;
    end += sprintf(end, "%" PRIu32 "\n", beyond + 1 + rng_below(&rng, 2 * records));
  }
  return (Text){begin, end};
}

// The beginning of the line that is `share` / `shares` into the text.
static const char* cut(const Text* text, unsigned share, unsigned shares) {
  const char* at = text->begin + (text->end - text->begin) / shares * share;
  if (share == 0 || share == shares) {
    return share == 0 ? text->begin : text->end;
  }
  return (const char*)memchr(at, '\n', (size_t)(text->end - at)) + 1;
}

static uint64_t run_workers(const Text* text, const Records* records, unsigned count, long passes) {
  Worker workers[kMaxWorkers];
  for (unsigned i = 0; i < count; ++i) {
    workers[i] = (Worker){.number = i,
                          .records = records,
                          .text = cut(text, i, count),
                          .end = cut(text, i + 1, count),
                          .passes = passes};
    if (pthread_create(&workers[i].thread, NULL, worker_run, &workers[i]) != 0) {
      fputs("counters: no thread could be made.\n", stderr);
      exit(1);
    }
  }
  uint64_t checksum = 0;
  for (unsigned i = 0; i < count; ++i) {
    pthread_join(workers[i].thread, NULL);
    checksum += workers[i].checksum;
  }
  return checksum;
}

int main(int argc, char** argv) {
  Argument arguments[] = {{"records", 1, 100000000, 4096},
                          {"keys", 1, 100000000, 20000},
                          {"passes", 0, 1000000000, 1500},
                          {"worker threads", 1, kMaxWorkers, 2},
                          {"seed", 0, 1 << 30, 1}};
  read_arguments_if_any(argc, argv, arguments, 5);
  const uint32_t record_count = (uint32_t)arguments[0].value;
  const uint64_t seed = (uint64_t)arguments[4].value;

  Records records = records_create(record_count, seed);
  const Text text = text_create((uint32_t)arguments[1].value, record_count, seed);
  uint64_t checksum =
      run_workers(&text, &records, (unsigned)arguments[3].value, arguments[2].value);
  const Totals totals = statistics_totals();
  checksum = checksum_add(checksum_add(checksum, totals.look_ups), totals.misses);
  free(text.begin);
  records_free(&records);
  printf("counters: %" PRIu64 " look-ups, %" PRIu64 " misses\nchecksum %016" PRIx64 "\n",
         totals.look_ups, totals.misses, checksum);
  return 0;
}
