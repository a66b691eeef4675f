// cache-thrash: active false sharing. Threads make small blocks at the same time: an allocator
// should not cut them from one cache line.
// After Berger, McKinley, Blumofe and Wilson, "Hoard".
#include "stress/writing.h"

int main(int argc, char** argv) {
  const stress::Writing writing = stress::read_writing(argc, argv);
  stress::Blocks none(static_cast<size_t>(writing.threads));
  const stress::Stopwatch spent = stress::run_writers(none, writing);
  stress::Result result("cache-thrash", spent, writing.operations());
  stress::rest(writing.rest);
  result.print(stress::resident_bytes());
  return 0;
}
