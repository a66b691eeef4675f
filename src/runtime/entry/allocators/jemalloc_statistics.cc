// jemalloc's mallctl and malloc_stats_print with the memory of groups, and with their blocks.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "base/output.h"
#include "runtime/accounting/grouped_memory.h"
#include "runtime/entry/allocators/jemalloc_blocks.h"
#include "runtime/entry/allocators/statistics.h"

namespace halo::runtime::statistics {

namespace native {
HALO_JEMALLOC_STATISTICS(HALO_STATISTICS_DEFINE)
int (*mallctlnametomib)(const char*, size_t*, size_t*) = nullptr;
}  // namespace native

namespace {

// jemalloc's numbers are those of its last epoch, so these are, too: a program finds the sums of
// one time. Each is stored alone: with other threads' epochs in between, jemalloc's are of
// different times as well.
class Epoch {
 public:
  void begin() {
    const auto [blocks, spans, span_count] = grouped_totals();
    const uint64_t sums[] = {blocks.live + spans.live,
                             blocks.active + spans.active,
                             blocks.resident + spans.resident,
                             blocks.mapped + spans.mapped,
                             blocks.live,
                             spans.live};
    for (size_t at = 0; at < std::size(sums); ++at)
      numbers_[at].store(sums[at], std::memory_order_relaxed);
    has_begun_.store(true, std::memory_order_release);
  }

  enum Number : uint8_t { kLive, kActive, kResident, kMapped, kLiveBlocks, kLiveSpans };
  uint64_t get(Number number) {
    if (!has_begun_.load(std::memory_order_acquire)) begin();
    return numbers_[number].load(std::memory_order_relaxed);
  }

 private:
  std::atomic<bool> has_begun_{false};
  std::atomic<uint64_t> numbers_[6]{};
};

constinit Epoch epoch;

// What a name stands for. Of the arenas there is only "all", whose number is 4096; the memory of
// groups is purged with arena 0, too, which every process has.
struct Control {
  enum Kind : uint8_t { kBytes, kPages, kDirtyPages, kEpoch, kPurge, kAsksAboutBlocks };

  const char* name;
  Kind kind;
  Epoch::Number number = Epoch::kLive;
  AskAboutBlocks* ask = nullptr;
};

constexpr Control kControls[] = {
    {"epoch", Control::kEpoch},
    {"stats.allocated", Control::kBytes, Epoch::kLive},
    {"stats.active", Control::kBytes, Epoch::kActive},
    {"stats.resident", Control::kBytes, Epoch::kResident},
    {"stats.mapped", Control::kBytes, Epoch::kMapped},
    {"stats.arenas.4096.small.allocated", Control::kBytes, Epoch::kLiveBlocks},
    {"stats.arenas.4096.large.allocated", Control::kBytes, Epoch::kLiveSpans},
    {"stats.arenas.4096.pactive", Control::kPages, Epoch::kActive},
    {"stats.arenas.4096.pdirty", Control::kDirtyPages},
    {"stats.arenas.4096.mapped", Control::kBytes, Epoch::kMapped},
    {"stats.arenas.4096.resident", Control::kBytes, Epoch::kResident},
    {"arena.4096.purge", Control::kPurge},
    {"arena.0.purge", Control::kPurge},
    {"arenas.lookup", Control::kAsksAboutBlocks, {}, look_up_arena},
    {"experimental.utilization.query", Control::kAsksAboutBlocks, {}, query_utilization},
    {"experimental.utilization.batch_query", Control::kAsksAboutBlocks, {}, query_utilizations},
};
constexpr size_t kControlCount = std::size(kControls);

const Control* control_of(const char* name) {
  for (const Control& control : kControls)
    if (std::strcmp(name, control.name) == 0) return &control;
  return nullptr;
}

// jemalloc's numbers for a name. Found when they are first needed.
constexpr size_t kMaxLength = 6;
struct Mib {
  size_t words[kMaxLength];
  size_t length;  // 0: jemalloc does not know the name
};
constinit Mib mibs[kControlCount]{};
constinit std::atomic<bool> have_mibs{false};

void find_mibs() {
  if (have_mibs.load(std::memory_order_acquire) || native::mallctlnametomib == nullptr) return;
  for (size_t at = 0; at < kControlCount; ++at) {
    Mib found{{}, kMaxLength};
    if (native::mallctlnametomib(kControls[at].name, found.words, &found.length) == 0)
      mibs[at] = found;
  }
  // Two threads may both get here; they write the same values.
  have_mibs.store(true, std::memory_order_release);
}

const Control* control_of(const size_t* mib, size_t length) {
  find_mibs();
  for (size_t at = 0; at < kControlCount; ++at)
    if (length != 0 && mibs[at].length == length && std::equal(mib, mib + length, mibs[at].words))
      return &kControls[at];
  return nullptr;
}

bool asks_about_blocks(const Control* control) {
  return control != nullptr && control->kind == Control::kAsksAboutBlocks;
}

// Earlier versions lack some names, of which they refuse each use.
bool is_known(const Control& control) {
  find_mibs();
  return mibs[&control - kControls].length != 0;
}

size_t bytes_of_page() {
  size_t bytes = 0, length = sizeof bytes;
  const bool known = native::mallctl("arenas.page", &bytes, &length, nullptr, 0) == 0;
  return known && bytes != 0 ? bytes : 4096;
}

// The numbers may be of two epochs.
uint64_t difference(uint64_t all, uint64_t part) { return all > part ? all - part : 0; }

size_t grouped(const Control& control) {
  switch (control.kind) {
    case Control::kBytes:
      return epoch.get(control.number);
    case Control::kPages:
      return epoch.get(control.number) / bytes_of_page();
    default:
      return difference(epoch.get(Epoch::kResident), epoch.get(Epoch::kActive)) / bytes_of_page();
  }
}

// After jemalloc has done what the program asked for.
void add_groups(const Control& control, void* old, const size_t* old_bytes, const void* now) {
  if (control.kind == Control::kEpoch) {
    if (now != nullptr) epoch.begin();
  } else if (control.kind == Control::kPurge) {
    purge_grouped_memory();
  } else if (old != nullptr && old_bytes != nullptr && *old_bytes == sizeof(size_t)) {
    size_t sum;
    std::memcpy(&sum, old, sizeof sum);
    sum += grouped(control);
    std::memcpy(old, &sum, sizeof sum);
  }
}

bool wants_json(const char* options) {
  return options != nullptr && std::strchr(options, 'J') != nullptr;
}

}  // namespace

namespace ours {

int mallctl(const char* name, void* old, size_t* old_bytes, void* now, size_t now_bytes) {
  const Control* const control = control_of(name);
  if (asks_about_blocks(control) && is_known(*control))
    return control->ask({old, old_bytes, now, now_bytes}, [&](const Question& about) {
      return native::mallctl(name, about.old, about.old_bytes, about.now, about.now_bytes);
    });
  const int status = native::mallctl(name, old, old_bytes, now, now_bytes);
  if (status == 0 && control != nullptr) add_groups(*control, old, old_bytes, now);
  return status;
}

int mallctlbymib(const size_t* mib, size_t length, void* old, size_t* old_bytes, void* now,
                 size_t now_bytes) {
  const Control* const control = control_of(mib, length);
  if (asks_about_blocks(control))
    return control->ask({old, old_bytes, now, now_bytes}, [&](const Question& about) {
      return native::mallctlbymib(mib, length, about.old, about.old_bytes, about.now,
                                  about.now_bytes);
    });
  const int status = native::mallctlbymib(mib, length, old, old_bytes, now, now_bytes);
  if (status == 0 && control != nullptr) add_groups(*control, old, old_bytes, now);
  return status;
}

// A line behind the text, which is not a document in JSON, has the numbers of the groups alone. The
// text's own totals have them as well in libraries whose calls lead here.
void malloc_stats_print(void (*write)(void*, const char*), void* to, const char* options) {
  native::malloc_stats_print(write, to, options);
  if (wants_json(options)) return;
  const GroupedMemory memory = grouped_memory();
  char line[160];
  std::snprintf(line, sizeof line,
                "Groups: allocated: %lu, active: %lu, resident: %lu, mapped: %lu\n", memory.live,
                memory.active, memory.resident, memory.mapped);
  if (write != nullptr) return write(to, line);
  Output(STDERR_FILENO).print("%s", line);
}

}  // namespace ours

}  // namespace halo::runtime::statistics
