#include "watching/report.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/output.h"
#include "base/output_path.h"

namespace halo::watching {

void write_report(const char* path, const LiveWatch& live, const char* refusal) {
  char name[4096];
  insert_process_id(path, name);
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  const int file = open(name, kFlags, 0666);
  if (file < 0) return;
  Output out(file);
  const Report report = live.report();
  const watch::Monitor::Counts& counts = live.monitor().counts();
  out.print("{\"refusal\": \"%s\", \"announced\": %lu, \"ignored\": %lu, ", refusal,
            report.announced, report.ignored);
  out.print("\"traps\": %lu, \"spent_us\": %lu, \"windows\": %lu, \"rate\": %lu, ", report.traps,
            report.spent_us, report.windows, report.rate);
  out.print("\"watched\": %lu, \"skipped\": %lu, \"hits\": %lu, \"misses\": %lu, ", counts.watched,
            counts.skipped, counts.hits, counts.misses);
  out.print("\"bursts\": %lu, \"dropped\": %lu, \"expired\": %lu, \"groups\": [", counts.bursts,
            counts.dropped, counts.expired);
  const char* separator = "";
  for (const GroupReport& group : live.groups()) {
    out.print("%s{\"hits\": %lu, \"misses\": %lu, \"judged\": %lu, \"confined\": %s}", separator,
              group.hits, group.misses, group.judged, group.is_confined ? "true" : "false");
    separator = ", ";
  }
  out.print("]}\n");
}

}  // namespace halo::watching
