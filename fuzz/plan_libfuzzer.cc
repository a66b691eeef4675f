// The plan fuzzer under libFuzzer, with mutations that keep most files loadable.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "fuzz/plan_mutator.h"
#include "fuzz/plan_target.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  halo::fuzz::kPlanTarget.run({data, size});
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  halo::fuzz::Random random(seed);
  if (random() % 4 == 0) size = LLVMFuzzerMutate(data, size, max_size);
  const bool nothing_yet = size < 64;  // less than a header
  const halo::fuzz::Input from =
      nothing_yet ? halo::fuzz::make_plan(random) : halo::fuzz::Input(data, data + size);
  const halo::fuzz::Input to = halo::fuzz::mutate_plan(from, random);
  const size_t kept = std::min(to.size(), max_size);
  std::copy_n(to.begin(), kept, data);
  return kept;
}
