// The operation fuzzer under libFuzzer; the heaps persist from one input to the next.
#include <cstddef>
#include <cstdint>

#include "fuzz/operations_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  halo::fuzz::kOperationsTarget.run({data, size});
  return 0;
}
