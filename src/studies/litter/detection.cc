// Counts allocations, and writes the file as JSON.
#include "studies/litter/detection.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <new>

namespace halo::litter {

namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr auto kAcquire = std::memory_order_acquire;
constexpr auto kRelease = std::memory_order_release;

void raise_to(std::atomic<uint64_t>& highest, uint64_t value) {
  uint64_t seen = highest.load(kRelaxed);
  while (seen < value && !highest.compare_exchange_weak(seen, value, kRelease, kRelaxed)) {
  }
}

// Prints the classes that occur as [size, count]; larger sizes are one class.
void print_group(Output& out, const SizeCounts& counts) {
  const char* separator = "";
  out.print("[");
  for (uint32_t i = 0; i < kSizeClasses; ++i) {
    const uint64_t count = counts.bins[i].load(kAcquire);
    if (count == 0) continue;
    out.print("%s[%u, %lu]", separator, i, count);
    separator = ", ";
  }
  out.print("]");
}

}  // namespace

bool Detection::open() { return totals_.map(1, MAP_SHARED); }

void Detection::allocated(size_t size, int32_t group) {
  if (totals_.size() == 0) return;
  Totals& totals = totals_[0];
  const uint32_t bin = class_of(size);
  totals.bytes.fetch_add(size, kRelaxed);
  if (bin == kLargerClass) totals.larger_bytes.fetch_add(size, kRelaxed);
  raise_to(totals.maximum, size);
  raise_to(totals.minimum_complement, ~uint64_t{size});
  totals.sizes.bins[bin].fetch_add(1, kRelease);
  if (group >= 0 && static_cast<size_t>(group) < by_group_.size())
    by_group_[static_cast<size_t>(group)].bins[bin].fetch_add(1, kRelease);
  const int64_t live = live_.fetch_add(1, kRelaxed) + 1;
  if (live > 0) raise_to(totals.max_live, static_cast<uint64_t>(live));
}

bool Detection::write(const char* path, const char* program) const {
  // The alternate stacks of signal handlers may be too small for these.
  struct Scratch {
    char draft[4096];
    alignas(Output) char output[sizeof(Output)];
  };
  Pages<Scratch> scratch;
  if (totals_.size() == 0 || !scratch.map(1)) return false;
  char(&draft)[4096] = scratch[0].draft;
  const int length = snprintf(draft, sizeof draft, "%s.%d.tmp", path, getpid());
  if (length < 0 || static_cast<size_t>(length) >= sizeof draft) return false;
  const int fd = ::open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return false;
  Output& out = *new (scratch[0].output) Output(fd);
  print(out, program);
  bool complete = out.finish();
  complete = close(fd) == 0 && complete && rename(draft, path) == 0;
  if (!complete) unlink(draft);
  return complete;
}

// Other threads may still count: each in the order of `allocated`, of which this is the opposite,
// so that no count is larger than the one that contains it.
void Detection::print(Output& out, const char* program) const {
  const Totals& totals = totals_[0];
  out.print("{\"format\": \"halo-detector\", \"version\": 1, \"program\": ");
  out.quote(program);
  out.print(", \"max_live_allocations\": %lu,\n \"groups\": [", totals.max_live.load(kAcquire));
  for (size_t i = 0; i < by_group_.size(); ++i) {
    if (i > 0) out.print(",\n  ");
    print_group(out, by_group_[i]);
  }
  out.print("],\n \"bins\": [");
  uint64_t allocations = 0;
  for (uint32_t i = 0; i < kSizeClasses; ++i) {
    const uint64_t count = totals.sizes.bins[i].load(kAcquire);
    out.print(i == 0 ? "%lu" : ",%lu", count);
    allocations += count;
  }
  const uint64_t bytes = totals.bytes.load(kRelaxed);
  const uint64_t divisor = allocations == 0 ? 1 : allocations;
  out.print("],\n \"allocations\": %lu, \"mean\": %lu.%06lu, ", allocations, bytes / divisor,
            bytes % divisor * 1000000 / divisor);
  out.print("\"minimum\": %lu, \"maximum\": %lu, \"larger_bytes\": %lu}\n",
            allocations == 0 ? 0 : ~totals.minimum_complement.load(kRelaxed),
            totals.maximum.load(kRelaxed), totals.larger_bytes.load(kRelaxed));
}

}  // namespace halo::litter
