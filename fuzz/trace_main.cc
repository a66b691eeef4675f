// fuzz_trace: the trace fuzzer with the repository's own driver.
#include "fuzz/trace_target.h"

int main(int argc, char** argv) { return halo::fuzz::drive(argc, argv, halo::fuzz::kTraceTarget); }
