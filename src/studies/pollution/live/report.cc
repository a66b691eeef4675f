#include "studies/pollution/live/report.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <span>

#include "base/output.h"
#include "base/output_path.h"

namespace halo::watching {

namespace {

constexpr rlim_t kLargestReport = rlim_t{64} << 10;  // bytes; groups are few

void print_colours(Output& out, const ConfinerReport& report, const char* refusal) {
  const char* first = report.refusal == frames::Refusal::kNone ? refusal : text_of(report.refusal);
  out.print("\"colours\": {\"refusal\": \"%s\", \"filled\": %lu, \"replaced\": %lu, ", first,
            report.filled, report.replaced);
  out.print("\"failed\": %lu, \"switched\": %lu, \"corrected\": %lu, \"populated\": %lu}, ",
            report.failed, report.switched, report.corrected, report.populated);
}

}  // namespace

void write_report(const char* path, const LiveWatch* live, const char* refusal,
                  const char* colours_refusal) {
  // The kernel would end the process, if it limits the size of files.
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < kLargestReport) return;
  char name[4096];
  insert_process_id(path, name);
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  const int file = open(name, kFlags, 0666);
  if (file < 0) return;
  Output out(file);
  const Report report = live != nullptr ? live->report() : Report{};
  const watch::Monitor::Counts counts =
      live != nullptr ? live->monitor().counts() : watch::Monitor::Counts{};
  out.print("{\"refusal\": \"%s\", \"announced\": %lu, \"ignored\": %lu, ", refusal,
            report.announced, report.ignored);
  out.print("\"traps\": %lu, \"spent_us\": %lu, \"windows\": %lu, \"rate\": %lu, ", report.traps,
            report.spent_us, report.windows, report.rate);
  out.print("\"watched\": %lu, \"skipped\": %lu, \"hits\": %lu, \"misses\": %lu, ", counts.watched,
            counts.skipped, counts.hits, counts.misses);
  out.print("\"bursts\": %lu, \"dropped\": %lu, \"expired\": %lu, ", counts.bursts, counts.dropped,
            counts.expired);
  const std::optional<ConfinerReport> confiner =
      live != nullptr ? live->confiner_report() : std::nullopt;
  if (confiner || *colours_refusal != '\0')
    print_colours(out, confiner.value_or(ConfinerReport{}), colours_refusal);
  out.print("\"groups\": [");
  const char* separator = "";
  const std::span<const GroupReport> groups =
      live != nullptr ? std::span(live->groups()) : std::span<const GroupReport>();
  for (const GroupReport& group : groups) {
    out.print("%s{\"hits\": %lu, \"misses\": %lu, \"judged\": %lu, \"confined\": %s}", separator,
              group.hits, group.misses, group.judged, group.is_confined ? "true" : "false");
    separator = ", ";
  }
  out.print("]}\n");
}

}  // namespace halo::watching
