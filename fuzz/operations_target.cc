// The first byte selects the arena, the others are the operations.
#include "fuzz/operations_target.h"

#include "fuzz/core_allocator.h"
#include "fuzz/operations.h"

namespace halo::fuzz {
namespace {

void run(std::span<const uint8_t> input) {
  Bytes bytes(input);
  CoreAllocator core(bytes.below(4) == 0);
  Operations(core, bytes).run();
}

}  // namespace

constinit const Target kOperationsTarget{"operations", 1, make_operations, run};

}  // namespace halo::fuzz
