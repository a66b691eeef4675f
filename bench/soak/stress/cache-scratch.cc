// cache-scratch: passive false sharing. The main thread allocates adjacent blocks and passes one to
// each thread, which frees it: an allocator should not serve the threads from that line again.
// After Berger, McKinley, Blumofe and Wilson, "Hoard".
#include "stress/writing.h"

int main(int argc, char** argv) {
  const stress::Writing writing = stress::read_writing(argc, argv);
  stress::Blocks given(static_cast<size_t>(writing.threads));
  for (size_t i = 0; i < given.size(); ++i) {
    given[i] = stress::make_block(writing.bytes);
  }
  const stress::Stopwatch spent = stress::run_writers(given, writing);
  stress::Result result("cache-scratch", spent, writing.operations());
  stress::rest(writing.rest);
  result.print(stress::resident_bytes());
  return 0;
}
