// Measures a part of a program.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <ctime>

// Prints "NAME SECONDS", of processor time, to stderr when it ends, if the environment has
// HALO_BENCH_PHASES.
class Phase {
 public:
  explicit Phase(const char* name) : name_(name), began_(now()) {}
  ~Phase() {
    const double seconds = now() - began_;
    if (std::getenv("HALO_BENCH_PHASES") != nullptr)
      std::fprintf(stderr, "%s %.6f\n", name_, seconds);
  }
  Phase(const Phase&) = delete;
  Phase& operator=(const Phase&) = delete;

 private:
  static double now() {
    timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
  }

  const char* name_;
  double began_;
};
