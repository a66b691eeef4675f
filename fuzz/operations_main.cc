// fuzz_operations: the operation fuzzer with the repository's own driver.
#include "fuzz/operations_target.h"

int main(int argc, char** argv) {
  return halo::fuzz::drive(argc, argv, halo::fuzz::kOperationsTarget);
}
