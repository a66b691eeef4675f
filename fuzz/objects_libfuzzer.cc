// The object trace fuzzer under libFuzzer.
#include "fuzz/libfuzzer.h"
#include "fuzz/objects_target.h"

HALO_LIBFUZZER_TARGET(halo::fuzz::kObjectsTarget)
