// fuzz_objects: the object trace fuzzer with the repository's own driver.
#include "fuzz/objects_target.h"

int main(int argc, char** argv) {
  return halo::fuzz::drive(argc, argv, halo::fuzz::kObjectsTarget);
}
