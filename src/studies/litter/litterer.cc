// libhalo-litterer.so: ages the heap before the preloading program starts (littering, "Littering"),
// with settings from LITTER_* variables (docs/littering.md).
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>

#include "base/keep_errno.h"
#include "base/output.h"
#include "base/output_path.h"
#include "recorder/wrappers/hello.h"
#include "studies/litter/clock.h"
#include "studies/litter/litter.h"
#include "studies/litter/own_program.h"
#include "studies/litter/variables.h"

namespace halo::litter {

namespace {

constinit halo_litter_settings settings{"detector.out", 0.95, 20, 0, 1, 0};
constinit halo_litter_report report{};
constinit halo_litter_outcome outcome = HALO_NOT_LITTERED;
constinit const char* problem = nullptr;  // with the settings
constinit double sleep_seconds = 0;
constinit char log_path[4096]{};  // copied: programs change their environment
constinit pid_t owner = 0;
constinit double program_start = 0;
constinit rusage spent{};  // before the program

void take_number(const char* variable, double minimum, double maximum, const char* complaint,
                 double& result) {
  const char* text = value_of(variable);
  if (text == nullptr) return;
  char* end = nullptr;
  const double value = strtod(text, &end);
  if (*end == '\0' && value >= minimum && value <= maximum)
    result = value;
  else
    problem = complaint;
}

void take_seed() {
  const char* text = value_of("HALO_LITTER_SEED");
  if (text == nullptr) {
    if (syscall(SYS_getrandom, &settings.seed, sizeof settings.seed, GRND_NONBLOCK) < 0)
      settings.seed = static_cast<uint64_t>(time(nullptr));
    return;
  }
  char* end = nullptr;
  errno = 0;
  settings.seed = strtoull(text, &end, 10);
  if (*text < '0' || *text > '9' || *end != '\0' || errno != 0)
    problem = "HALO_LITTER_SEED is not a whole number below 2^64";
}

void take_flag(const char* variable, const char* complaint, int when_set, int& result) {
  const char* text = value_of(variable);
  if (text == nullptr) return;
  if (strcmp(text, "1") == 0)
    result = when_set;
  else if (strcmp(text, "0") == 0)
    result = 1 - when_set;
  else
    problem = complaint;
}

void take_settings() {
  if (const char* data = value_of("HALO_LITTER_DATA_FILENAME")) settings.data = data;
  take_number("HALO_LITTER_OCCUPANCY", 0, 1, "HALO_LITTER_OCCUPANCY is not a number from 0 to 1",
              settings.occupancy);
  take_number("HALO_LITTER_MULTIPLIER", 0, 1e6,
              "HALO_LITTER_MULTIPLIER is not a number from 0 to 1000000", settings.multiplier);
  take_number("HALO_LITTER_SLEEP", 0, 86400,
              "HALO_LITTER_SLEEP is not a number of seconds, at most 86400", sleep_seconds);
  take_flag("HALO_LITTER_SHUFFLE", "HALO_LITTER_SHUFFLE is neither 0 nor 1", 1, settings.shuffle);
  const int shuffle = settings.shuffle;
  take_flag("HALO_LITTER_NO_SHUFFLE", "HALO_LITTER_NO_SHUFFLE is neither 0 nor 1", 0,
            settings.shuffle);
  if (value_of("HALO_LITTER_SHUFFLE") != nullptr && shuffle != settings.shuffle)
    problem = "HALO_LITTER_SHUFFLE and HALO_LITTER_NO_SHUFFLE contradict each other";
  take_flag("HALO_LITTER_GROUPS", "HALO_LITTER_GROUPS is neither 0 nor 1", 1, settings.groups);
  take_seed();
  if (const char* log = value_of("HALO_LITTER_LOG_FILENAME")) {
    char absolute[sizeof log_path];
    make_absolute(log, absolute);
    insert_process_id(absolute, log_path);
  }
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

// One JSON object. `program_start` is in seconds of CLOCK_MONOTONIC; `program_seconds` counts from
// then, and is negative until the program ends.
void write_log(double program_seconds) {
  if (log_path[0] == '\0') return;
  const int fd = open(log_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return;
  Output out(fd);
  static constexpr const char* kOutcomes[] = {"littered", "not littered", "in part"};
  out.print("{\"outcome\": \"%s\", \"problem\": ", kOutcomes[outcome]);
  out.quote(problem != nullptr ? problem : report.problem);
  out.print(", \"occupancy\": %.17g, \"multiplier\": %.17g, \"seed\": %lu, ", settings.occupancy,
            settings.multiplier, settings.seed);
  out.print("\"shuffle\": %s, \"groups\": %s, ", settings.shuffle != 0 ? "true" : "false",
            settings.groups != 0 ? "true" : "false");
  out.print("\"objects\": %lu, \"kept\": %lu, \"grouped\": %lu, ", report.objects, report.kept,
            report.grouped);
  out.print("\"bytes\": %lu, \"kept_bytes\": %lu, \"own_bytes\": %lu, ", report.bytes,
            report.kept_bytes, report.own_bytes);
  out.print("\"seconds\": %.6f, \"user_seconds\": %.6f, \"system_seconds\": %.6f", report.seconds,
            seconds(spent.ru_utime), seconds(spent.ru_stime));
  out.print(", \"program_start\": %.6f", program_start);
  if (program_seconds >= 0) out.print(", \"program_seconds\": %.6f", program_seconds);
  out.print("}\n");
  out.finish();
  close(fd);
}

void wait_before_program() {
  const auto whole = static_cast<time_t>(sleep_seconds);
  const double rest = sleep_seconds - static_cast<double>(whole);
  const timespec time{whole, static_cast<long>(rest * 1e9)};
  nanosleep(&time, nullptr);
}

void complain() {
  if (const char* quiet = value_of("HALO_LITTER_QUIET");
      quiet != nullptr && strcmp(quiet, "1") == 0)
    return;
  Output out(STDERR_FILENO);
  out.print(outcome == HALO_LITTERED_IN_PART ? "halo: " : "halo: the heap is not littered: ");
  out.print("%s\n", problem != nullptr ? problem : report.problem);
}

// Tells the recorder to drop the littering's events, on request.
void reset_recording() {
  const char* recorded = value_of("HALO_LITTER_RECORDED");
  if (recorded == nullptr || strcmp(recorded, "1") != 0) return;
  volatile interpose::Hello hello{interpose::Hello::kReset, 0};
  interpose::call_recorder(hello);
}

// This library's constructor should run last of all preloaded ones, so that the allocators are
// initialised. It is therefore preloaded first.
__attribute__((constructor)) void litter() {
  const KeepErrno keep;
  if (!OwnProgram().is_meant_by("HALO_LITTER_PROGRAM")) return;
  take_settings();
  if (problem == nullptr) outcome = halo_litter(&settings, &report);
  if (outcome != HALO_LITTERED) complain();
  owner = getpid();
  if (outcome == HALO_LITTERED) wait_before_program();
  getrusage(RUSAGE_SELF, &spent);
  program_start = now();
  write_log(-1);
  reset_recording();
}

__attribute__((destructor)) void finish() {
  if (owner != getpid()) return;
  const KeepErrno keep;
  write_log(now() - program_start);
}

}  // namespace

}  // namespace halo::litter
