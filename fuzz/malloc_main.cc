// fuzz_malloc: sequences of operations on malloc and its relatives, to be run under the runtime.
//   fuzz_malloc --write-plan FILE    writes the plan for this program
#include <cstdio>
#include <cstring>
#include <fstream>

#include "fuzz/call_sites.h"
#include "fuzz/driver.h"
#include "fuzz/malloc_allocator.h"
#include "fuzz/operations.h"

namespace {

using namespace halo::fuzz;

void run(std::span<const uint8_t> input) {
  MallocAllocator allocator;
  Operations(allocator, Bytes(input)).run();
}

constexpr Target kTarget{"malloc", 1, make_operations, run};

int write_plan(const char* path) {
  const std::vector<std::byte> plan = make_call_site_plan();
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(plan.data()), static_cast<std::streamsize>(plan.size()));
  if (file.flush()) return 0;
  std::fprintf(stderr, "%s cannot be written\n", path);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--write-plan") == 0) return write_plan(argv[2]);
  return drive(argc, argv, kTarget);
}
