// jemalloc's mallctl and malloc_stats_print with the memory of groups.
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "base/output.h"
#include "runtime/accounting/grouped_memory.h"
#include "runtime/entry/allocators/statistics.h"

namespace halo::runtime::statistics {

namespace native {
HALO_JEMALLOC_STATISTICS(HALO_STATISTICS_DEFINE)
int (*mallctlnametomib)(const char*, std::size_t*, std::size_t*) = nullptr;
}  // namespace native

namespace {

// jemalloc's numbers are those of its last epoch, so these are, too: a program finds the sums of
// one time. Each is stored alone: with other threads' epochs in between, jemalloc's are of
// different times as well.
class Epoch {
 public:
  void begin() {
    const auto [blocks, spans, span_count] = grouped_totals();
    const std::uint64_t sums[] = {blocks.live + spans.live,
                                  blocks.active + spans.active,
                                  blocks.resident + spans.resident,
                                  blocks.mapped + spans.mapped,
                                  blocks.live,
                                  spans.live};
    for (std::size_t at = 0; at < std::size(sums); ++at)
      numbers_[at].store(sums[at], std::memory_order_relaxed);
    has_begun_.store(true, std::memory_order_release);
  }

  enum Number : std::uint8_t { kLive, kActive, kResident, kMapped, kLiveBlocks, kLiveSpans };
  std::uint64_t get(Number number) {
    if (!has_begun_.load(std::memory_order_acquire)) begin();
    return numbers_[number].load(std::memory_order_relaxed);
  }

 private:
  std::atomic<bool> has_begun_{false};
  std::atomic<std::uint64_t> numbers_[6]{};
};

constinit Epoch epoch;

// What a name stands for. Of one arena there is only "all", whose number is 4096.
struct Control {
  enum Kind : std::uint8_t { kBytes, kPages, kDirtyPages, kEpoch, kPurge };

  const char* name;
  Kind kind;
  Epoch::Number number = Epoch::kLive;
};

// The arena's number in a name that is valid for any arena.
constexpr const char* any_arena = "arena.0.purge";
constexpr std::size_t any_arena_at = 1;  // in its MIB

constexpr Control controls[] = {
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
    {any_arena, Control::kPurge},
};
constexpr std::size_t control_count = std::size(controls);

bool purges_an_arena(const char* name) {
  if (std::strncmp(name, "arena.", 6) != 0) return false;
  const char* end = name + 6;
  while (*end >= '0' && *end <= '9') ++end;
  return std::strcmp(end, ".purge") == 0;
}

const Control* control_of(const char* name) {
  for (const Control& control : controls)
    if (std::strcmp(name, control.name) == 0) return &control;
  return purges_an_arena(name) ? &controls[control_count - 1] : nullptr;
}

// jemalloc's numbers for a name. Found by the first call of mallctlbymib.
constexpr std::size_t max_length = 6;
struct Mib {
  std::size_t words[max_length];
  std::size_t length;  // 0: jemalloc does not know the name
};
constinit Mib mibs[control_count]{};
constinit std::atomic<bool> have_mibs{false};

void find_mibs() {
  if (native::mallctlnametomib == nullptr) return;
  for (std::size_t at = 0; at < control_count; ++at) {
    Mib found{{}, max_length};
    if (native::mallctlnametomib(controls[at].name, found.words, &found.length) == 0)
      mibs[at] = found;
  }
  // Two threads may both get here; they write the same values.
  have_mibs.store(true, std::memory_order_release);
}

const Control* control_of(const std::size_t* mib, std::size_t length) {
  if (!have_mibs.load(std::memory_order_acquire)) find_mibs();
  for (std::size_t at = 0; at < control_count; ++at) {
    if (mibs[at].length != length || length == 0) continue;
    bool is_same = true;
    for (std::size_t word = 0; word < length; ++word) {
      const bool may_differ = controls[at].kind == Control::kPurge && word == any_arena_at;
      is_same = is_same && (may_differ || mib[word] == mibs[at].words[word]);
    }
    if (is_same) return &controls[at];
  }
  return nullptr;
}

std::size_t bytes_of_page() {
  std::size_t bytes = 0, length = sizeof bytes;
  const bool known = native::mallctl("arenas.page", &bytes, &length, nullptr, 0) == 0;
  return known && bytes != 0 ? bytes : 4096;
}

std::size_t grouped(const Control& control) {
  switch (control.kind) {
    case Control::kBytes:
      return epoch.get(control.number);
    case Control::kPages:
      return epoch.get(control.number) / bytes_of_page();
    default:
      return (epoch.get(Epoch::kResident) - epoch.get(Epoch::kActive)) / bytes_of_page();
  }
}

// Whether the numbers that malloc_stats_print writes come from the functions here: in the libraries
// of most distributions its calls lead to them.
class Printing {
 public:
  // False if another thread is printing.
  bool begin() {
    pthread_t none{};
    if (!thread_.compare_exchange_strong(none, pthread_self(), std::memory_order_acquire))
      return false;
    has_read_ = false;
    return true;
  }
  void note_read() {
    if (thread_.load(std::memory_order_relaxed) == pthread_self()) has_read_ = true;
  }
  bool has_read() const { return has_read_; }
  void end() { thread_.store(pthread_t{}, std::memory_order_release); }

 private:
  std::atomic<pthread_t> thread_{};
  bool has_read_ = false;
};

constinit Printing printing;

// After jemalloc has done what the program asked for.
void add_groups(const Control& control, void* old, const std::size_t* old_bytes, const void* now) {
  if (control.kind == Control::kEpoch) {
    if (now != nullptr) epoch.begin();
  } else if (control.kind == Control::kPurge) {
    purge_grouped_memory();
  } else if (old != nullptr && old_bytes != nullptr && *old_bytes == sizeof(std::size_t)) {
    std::size_t sum;
    std::memcpy(&sum, old, sizeof sum);
    sum += grouped(control);
    std::memcpy(old, &sum, sizeof sum);
    printing.note_read();
  }
}

bool wants_json(const char* options) {
  return options != nullptr && std::strchr(options, 'J') != nullptr;
}

}  // namespace

namespace ours {

int mallctl(const char* name, void* old, std::size_t* old_bytes, void* now, std::size_t now_bytes) {
  const int status = native::mallctl(name, old, old_bytes, now, now_bytes);
  if (status != 0) return status;
  if (const Control* control = control_of(name)) add_groups(*control, old, old_bytes, now);
  return 0;
}

int mallctlbymib(const std::size_t* mib, std::size_t length, void* old, std::size_t* old_bytes,
                 void* now, std::size_t now_bytes) {
  const int status = native::mallctlbymib(mib, length, old, old_bytes, now, now_bytes);
  if (status != 0) return status;
  if (const Control* control = control_of(mib, length)) add_groups(*control, old, old_bytes, now);
  return 0;
}

// If its numbers are jemalloc's own, a line has those of the groups. A document in JSON stays as it
// is.
void malloc_stats_print(void (*write)(void*, const char*), void* to, const char* options) {
  const bool is_first = printing.begin();
  native::malloc_stats_print(write, to, options);
  if (!is_first) return;
  const bool has_groups = printing.has_read();
  printing.end();
  if (has_groups || wants_json(options)) return;
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
