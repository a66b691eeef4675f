// frames: decodes pictures one after the other, and looks entries of a table up in between. A
// picture is allocated, filled, converted and freed; its lines are not used again. The table is.
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "common/args.h"
#include "common/checksum.h"
#include "common/rng.h"

namespace {

using Picture = std::unique_ptr<uint8_t[]>;

__attribute__((noinline)) Picture make_picture(size_t bytes) { return Picture(new uint8_t[bytes]); }

__attribute__((noinline)) Picture decode(size_t bytes, uint64_t key) {
  Picture made = make_picture(bytes);
  for (size_t at = 0; at < bytes; ++at) made[at] = static_cast<uint8_t>(at * key >> 8);
  return made;
}

// Each value becomes the mean of itself and the next one.
__attribute__((noinline)) Picture convert(const Picture& from, size_t bytes) {
  Picture made = make_picture(bytes);
  for (size_t at = 0; at + 1 < bytes; ++at)
    made[at] = static_cast<uint8_t>((from[at] + from[at + 1]) / 2);
  made[bytes - 1] = from[bytes - 1];
  return made;
}

uint64_t look_up(std::vector<uint64_t>& table, long count, Rng& rng) {
  uint64_t checksum = 0;
  for (long at = 0; at < count; ++at)
    checksum += ++table[rng_below(&rng, static_cast<uint32_t>(table.size()))];
  return checksum;
}

}  // namespace

int main(int argc, char** argv) {
  Argument arguments[] = {{"pictures", 1, 1000000, 0},
                          {"bytes of a picture", 2, 1 << 28, 0},
                          {"bytes of the table", 8, 1 << 28, 0},
                          {"lookups between two pictures", 0, 1000000000, 0},
                          {"seed", 0, 1 << 30, 0}};
  read_arguments(argc, argv, arguments, 5);
  const long pictures = arguments[0].value;
  const auto bytes = static_cast<size_t>(arguments[1].value);
  Rng rng{static_cast<uint64_t>(arguments[4].value)};
  std::vector<uint64_t> table(static_cast<size_t>(arguments[2].value) / 8, 1);
  uint64_t checksum = 0;
  for (long number = 0; number < pictures; ++number) {
    const Picture decoded = decode(bytes, rng_next(&rng));
    const Picture converted = convert(decoded, bytes);
    checksum = checksum_add(checksum, converted[rng_below(&rng, static_cast<uint32_t>(bytes))]);
    checksum = checksum_add(checksum, look_up(table, arguments[3].value, rng));
  }
  std::printf("frames: %ld pictures\nchecksum %016" PRIx64 "\n", pictures, checksum);
  return 0;
}
