// fuzz_plan: the plan fuzzer with the repository's own driver.
#include "fuzz/plan_target.h"

int main(int argc, char** argv) { return halo::fuzz::drive(argc, argv, halo::fuzz::kPlanTarget); }
