// particles: a cloud of particles that end and are set off again, after Miucin, sections 2.3.1
// (fluidanimate) and 2.3.2.
#include <bit>
#include <cinttypes>
#include <cstdio>

#include "common/args.h"
#include "common/checksum.h"
#include "particles/cloud.h"

int main(int argc, char** argv) {
  Argument arguments[] = {{"particles", 0, 100000000, 200000},
                          {"longest life", 1, 1 << 30, 400},
                          {"steps", 0, 1 << 30, 700},
                          {"seed", 0, 1 << 30, 1}};
  read_arguments_if_any(argc, argv, arguments, 4);

  particles::Cloud cloud(static_cast<uint32_t>(arguments[0].value),
                         static_cast<uint32_t>(arguments[1].value),
                         static_cast<uint64_t>(arguments[3].value));
  for (long now = 1; now <= arguments[2].value; ++now) {
    cloud.step(now);
  }
  const particles::Tally& tally = cloud.tally();
  const uint64_t checksum = checksum_add(tally.checksum, std::bit_cast<uint64_t>(tally.energy));
  std::printf("particles: %" PRIu64 " ended\nchecksum %016" PRIx64 "\n", tally.ended, checksum);
  return 0;
}
