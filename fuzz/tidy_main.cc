// fuzz_tidy: the fuzzer of Tidy's heap with the repository's own driver.
#include "fuzz/tidy_target.h"

int main(int argc, char** argv) { return halo::fuzz::drive(argc, argv, halo::fuzz::kTidyTarget); }
