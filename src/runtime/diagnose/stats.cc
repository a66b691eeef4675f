// Statistics as JSON, written with a fixed buffer and write(2).
#include "runtime/diagnose/stats.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "base/output.h"
#include "base/output_path.h"
#include "runtime/accounting/grouped_memory.h"
#include "runtime/base/diagnosis.h"
#include "runtime/code/alignment.h"
#include "runtime/diagnose/check.h"
#include "runtime/extra.h"
#include "runtime/heap/thread_heap.h"
#include "runtime/identify/walk_counts.h"
#include "runtime/modules/modules.h"
#include "runtime/pages/arena.h"

namespace halo::runtime {

constinit bool keeping_stats = false;

namespace {

struct Totals {
  uint64_t allocations = 0, refusals = 0, live = 0, resident = 0, pages = 0;
  uint64_t max_live = 0, peak_resident = 0, live_at_peak = 0, last_live = 0;
};

// The totals of a group, or of a shared heap.
Totals totals_of(uint32_t group) {
  Totals sum;
  for (const ThreadHeap* t = first_thread_heap(); t != nullptr; t = t->next()) {
    if (!is_shared_heap(group)) sum.allocations += t->shared_allocations(group);
    const GroupBytes part = t->bytes_of(group);
    sum.live += part.live;
    sum.resident += part.resident;
    if (const GroupHeap* heap = t->existing_heap(group)) {
      sum.allocations += heap->allocations();
      sum.refusals += heap->refusals();
      sum.pages += heap->pages();
    }
  }
  if (const Peak* peak = peak_of(group)) {
    sum.max_live = peak->max_live.load(std::memory_order_relaxed);
    sum.peak_resident = peak->resident.load(std::memory_order_relaxed);
    sum.live_at_peak = peak->live.load(std::memory_order_relaxed);
    sum.last_live = peak->last_live.load(std::memory_order_relaxed);
  }
  if (sum.live > sum.max_live) sum.max_live = sum.live;
  if (sum.resident > sum.peak_resident) {
    // The last growth, which no sample has covered since.
    sum.peak_resident = sum.resident;
    sum.live_at_peak = sum.live > sum.last_live ? sum.live : sum.last_live;
  }
  return sum;
}

// The sum over all shared heaps; their peaks need not coincide.
Totals totals_of_shared(uint32_t groups) {
  Totals sum;
  for (uint32_t i = 0; i < kSharedHeaps; ++i) {
    const Totals t = totals_of(groups + i);
    sum.refusals += t.refusals;
    sum.live += t.live;
    sum.resident += t.resident;
    sum.pages += t.pages;
    sum.max_live += t.max_live;
    sum.peak_resident += t.peak_resident;
    sum.live_at_peak += t.live_at_peak;
  }
  return sum;
}

// The heap of the groups that step.
Totals totals_of_stepping() {
  const SteppingCounts counts = stepping_counts();
  Totals sum;
  sum.refusals = counts.refusals;
  sum.live = counts.live;
  sum.resident = counts.resident;
  sum.pages = counts.pages;
  sum.max_live = counts.peak_live;
  sum.peak_resident = counts.peak_resident;
  sum.live_at_peak = counts.live_at_peak;
  return sum;
}

struct Memory {
  uint64_t resident = 0, huge = 0;  // bytes
};

// Sums Rss and AnonHugePages of the arena's mappings, in a streaming parse of smaps.
class SmapsParser {
 public:
  void line(const char* text) {
    uint64_t from, to, kib;
    if (sscanf(text, "%lx-%lx ", &from, &to) == 2) {
      // A mapping that grows while the file is read may be listed twice.
      inside_ = from >= end_ && from >= arena.base() && to <= arena.base() + arena.bytes();
      end_ = to;
    } else if (inside_ && sscanf(text, "Rss: %lu kB", &kib) == 1) {
      memory.resident += kib * 1024;
    } else if (inside_ && sscanf(text, "AnonHugePages: %lu kB", &kib) == 1) {
      memory.huge += kib * 1024;
    }
  }
  Memory memory;

 private:
  uint64_t end_ = 0;  // of the previous mapping
  bool inside_ = false;
};

Memory arena_memory() {
  SmapsParser parser;
  if (arena.bytes() == 0) return {};
  const int fd = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  char buffer[4096], text[512];
  size_t length = 0;
  for (ssize_t n; (n = read(fd, buffer, sizeof buffer)) > 0;) {
    for (ssize_t i = 0; i < n; ++i) {
      if (buffer[i] == '\n') {
        text[length] = '\0';
        parser.line(text);
        length = 0;
      } else if (length + 1 < sizeof text) {
        text[length++] = buffer[i];
      }
    }
  }
  close(fd);
  return parser.memory;
}

double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

int open_output(const char* path) {
  char name[4096];
  insert_process_id(path, name);
  // A FIFO without a reader must not block the process.
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  return open(name, kFlags, 0666);
}

void write_walks_json(Output& out) {
  if (!counting_all) return;
  out.print("\"walk_misses\": %lu, \"walks_by_steps\": [",
            walk_counts.misses.load(std::memory_order_relaxed));
  for (uint32_t i = 0; i < kMaxStepsCounted; ++i)
    out.print("%s%lu", i == 0 ? "" : ", ", walk_counts.by_steps[i].load(std::memory_order_relaxed));
  out.print("], ");
}

void write_memory_json(Output& out, const Totals& t) {
  out.print("\"live_bytes\": %lu, \"peak_bytes\": %lu, ", t.live, t.max_live);
  out.print("\"resident_bytes\": %lu, \"peak_resident_bytes\": %lu, ", t.resident, t.peak_resident);
  out.print("\"live_at_peak_bytes\": %lu, \"pages\": %lu, \"refused\": %lu}", t.live_at_peak,
            t.pages, t.refusals);
}

// As a JSON string; the rest after a character that would have to be escaped is left out.
void write_path_json(Output& out, const char* path) {
  int length = 0;
  while (path[length] >= ' ' && path[length] < 0x7F && path[length] != '"' && path[length] != '\\')
    ++length;
  out.print("\"%.*s\"", length, path);
}

void write_json(Output& out, const Activity& activity, uint32_t groups, double start) {
  const char* reason = activity.reason;
  out.print("{\"active\": %s, \"reason\": \"%s\", \"calls_taken_by\": ",
            reason == nullptr ? "true" : "false", reason == nullptr ? "" : reason);
  write_path_json(out, activity.taker == nullptr ? "" : activity.taker);
  out.print(", \"groups\": [");
  for (uint32_t i = 0; i < groups; ++i) {
    const Totals t = totals_of(i);
    out.print(i == 0 ? "{" : ", {");
    if (counting_all) out.print("\"allocations\": %lu, ", t.allocations);
    write_memory_json(out, t);
  }
  const Memory memory = arena_memory();
  const CheckCounts check = check_counts();
  out.print("], \"shared\": {");
  write_memory_json(out, groups == 0 ? Totals{} : totals_of_shared(groups));
  out.print(", \"stepping\": {\"skipped_bytes\": %lu, ", stepping_counts().skipped);
  write_memory_json(out, totals_of_stepping());
  out.print(", \"arena_base\": %lu, \"arena_bytes\": %lu, ", arena.base(), arena.bytes());
  out.print("\"resident_bytes\": %lu, \"huge_bytes\": %lu, ", memory.resident, memory.huge);
  const HugePages& huge = arena.huge_pages();
  out.print("\"huge_asked\": %lu, \"huge_touch_seconds\": %.6f, ", huge.requested(),
            static_cast<double>(huge.nanoseconds()) * 1e-9);
  const SiteCounts sites = site_counts();
  out.print("\"identification\": \"%s\", \"sites_redirected\": %u, \"sites_immediate\": %u, ",
            activity.identification, sites.redirected, sites.immediate);
  out.print("\"sites_left\": %u, ", sites.left);
  const SpanCounts spans = span_counts();
  out.print("\"spans\": {\"allocations\": %lu, \"confined\": %lu, ", spans.allocations,
            spans.confined);
  out.print("\"unfit\": %lu, \"refused\": %lu, ", spans.unfit, spans.refusals);
  out.print("\"live_bytes\": %lu, \"peak_bytes\": %lu}, ", spans.live, spans.peak_live);
  const GroupedMemory all = grouped_memory();
  out.print("\"all\": {\"live_bytes\": %lu, \"active_bytes\": %lu, ", all.live, all.active);
  out.print("\"resident_bytes\": %lu, \"mapped_bytes\": %lu}, ", all.resident, all.mapped);
  const char* obstacle = alignment_obstacle();
  out.print("\"all_aligned_to_16\": \"%s\", \"unlike_modules\": %u, ",
            obstacle == nullptr ? "" : obstacle, unlike_modules());
  write_walks_json(out);
  out.print("\"checked_walks\": %lu, \"differences\": %lu, \"report_seconds\": %.6f}\n",
            check.walks, check.differences, now() - start);
}

// The histogram of return addresses that walks read beyond the caller's.
void write_walks_text(Output& out) {
  bool any = false;
  for (uint32_t i = 0; i < kMaxStepsCounted; ++i) {
    const uint64_t n = walk_counts.by_steps[i].load(std::memory_order_relaxed);
    if (n == 0) continue;
    out.print(any ? " %u: %lu" : "halo: walks by return addresses read: %u: %lu", i + 1, n);
    any = true;
  }
  if (any)
    out.print("; to no group: %lu\n", walk_counts.misses.load(std::memory_order_relaxed));
  else
    out.print("halo: no allocation needed a walk\n");
}

void write_line(Output& out, const char* name, const char* allocations, const Totals& t) {
  out.print("halo: %6s %12s %12lu %12lu %12lu %12ld %7lu %9lu\n", name, allocations, t.live,
            t.max_live, t.resident, static_cast<int64_t>(t.resident - t.live), t.pages, t.refusals);
}

void write_text(Output& out, const Activity& activity, uint32_t groups) {
  const char* reason = activity.reason;
  out.print("halo: process %d, %s%s\n", getpid(),
            reason == nullptr ? "active" : "inactive: ", reason == nullptr ? "" : reason);
  if (groups != 0)
    out.print("halo: %6s %12s %12s %12s %12s %12s %7s %9s\n", "group", "allocations", "live bytes",
              "peak bytes", "resident", "waste", "pages", "refused");
  for (uint32_t i = 0; i < groups; ++i) {
    const Totals t = totals_of(i);
    char name[12], allocations[24] = "-";
    snprintf(name, sizeof name, "%u", i);
    if (counting_all) snprintf(allocations, sizeof allocations, "%lu", t.allocations);
    write_line(out, name, allocations, t);
  }
  const Totals t = groups == 0 ? Totals{} : totals_of_shared(groups);
  if (t.peak_resident != 0) write_line(out, "shared", "-", t);
  const Totals stepping = totals_of_stepping();
  if (stepping.peak_resident != 0) {
    write_line(out, "steps", "-", stepping);
    out.print("halo: %lu bytes stepped over\n", stepping_counts().skipped);
  }
  if (const SiteCounts sites = site_counts(); sites.redirected + sites.immediate + sites.left != 0)
    out.print("halo: %s: %u call sites redirected, %u need not be, %u left alone\n",
              activity.identification, sites.redirected, sites.immediate, sites.left);
  if (activity.taker != nullptr)
    out.print("halo: calls of malloc lead to %s, the only caller that halo sees then\n",
              activity.taker);
  if (const char* obstacle = alignment_obstacle(); obstacle != nullptr)
    out.print("halo: all blocks are aligned to 16 bytes: %s\n", obstacle);
  if (const unsigned unlike = unlike_modules(); unlike != 0)
    out.print("halo: %u modules have the build-id of the plan's, but other content\n", unlike);
  if (counting_all) write_walks_text(out);
}

}  // namespace

bool is_human_readable(const char* path) { return strcmp(path, "1") == 0; }

void write_stats(const char* path, const Activity& activity, uint32_t groups) {
  if (arena.bytes() == 0) groups = 0;  // no group was ever opened
  const double start = now();
  if (is_human_readable(path)) {
    Output out(STDERR_FILENO);
    write_text(out, activity, groups);
    return;
  }
  const int fd = open_output(path);
  if (fd < 0) return;
  {
    Output out(fd);
    write_json(out, activity, groups, start);
  }
  close(fd);
}

}  // namespace halo::runtime
