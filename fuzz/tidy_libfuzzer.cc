// The fuzzer of Tidy's heap under libFuzzer.
#include "fuzz/libfuzzer.h"
#include "fuzz/tidy_target.h"

HALO_LIBFUZZER_TARGET(halo::fuzz::kTidyTarget)
