// The trace fuzzer under libFuzzer.
#include "fuzz/libfuzzer.h"
#include "fuzz/trace_target.h"

HALO_LIBFUZZER_TARGET(halo::fuzz::kTraceTarget)
