// Counts allocations, and writes the file as JSON.
#include "litter/detection.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/output.h"

namespace halo::litter {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;

void raise_to(std::atomic<std::uint64_t>& highest, std::uint64_t value) {
  std::uint64_t seen = highest.load(relaxed);
  while (seen < value && !highest.compare_exchange_weak(seen, value, relaxed)) {
  }
}

// Prints the classes that occur as [size, count]; larger sizes are one class.
void print_group(Output& out, const SizeCounts& counts) {
  const char* separator = "";
  out.print("[");
  for (std::uint32_t i = 0; i < size_classes; ++i) {
    const std::uint64_t count = counts.bins[i].load(relaxed);
    if (count == 0) continue;
    out.print("%s[%u, %lu]", separator, i, count);
    separator = ", ";
  }
  out.print("]");
}

}  // namespace

bool Detection::open() { return totals_.map(1, MAP_SHARED); }

void Detection::allocated(std::size_t size, std::int32_t group) {
  if (totals_.size() == 0) return;
  Totals& totals = totals_[0];
  const std::uint32_t bin = class_of(size);
  totals.allocations.fetch_add(1, relaxed);
  totals.bytes.fetch_add(size, relaxed);
  if (bin == larger_class) totals.larger_bytes.fetch_add(size, relaxed);
  raise_to(totals.maximum, size);
  raise_to(totals.minimum_complement, ~std::uint64_t{size});
  totals.sizes.bins[bin].fetch_add(1, relaxed);
  if (group >= 0 && static_cast<std::size_t>(group) < by_group_.size())
    by_group_[static_cast<std::size_t>(group)].bins[bin].fetch_add(1, relaxed);
  const std::int64_t live = live_.fetch_add(1, relaxed) + 1;
  if (live > 0) raise_to(totals.max_live, static_cast<std::uint64_t>(live));
}

bool Detection::write(const char* path, const char* program) const {
  if (totals_.size() == 0) return false;
  char draft[4096];
  const int length = snprintf(draft, sizeof draft, "%s.%d.tmp", path, getpid());
  if (length < 0 || static_cast<std::size_t>(length) >= sizeof draft) return false;
  const int fd = ::open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return false;
  bool complete = false;
  print(fd, program, complete);
  complete = close(fd) == 0 && complete && rename(draft, path) == 0;
  if (!complete) unlink(draft);
  return complete;
}

void Detection::print(int fd, const char* program, bool& complete) const {
  Output out(fd);
  const Totals& totals = totals_[0];
  const std::uint64_t allocations = totals.allocations.load(relaxed);
  const std::uint64_t bytes = totals.bytes.load(relaxed);
  out.print("{\"format\": \"halo-detector\", \"version\": 1, \"program\": ");
  out.quote(program);
  const std::uint64_t divisor = allocations == 0 ? 1 : allocations;
  out.print(", \"allocations\": %lu, \"mean\": %lu.%06lu, ", allocations, bytes / divisor,
            bytes % divisor * 1000000 / divisor);
  out.print("\"minimum\": %lu, \"maximum\": %lu, ",
            allocations == 0 ? 0 : ~totals.minimum_complement.load(relaxed),
            totals.maximum.load(relaxed));
  out.print("\"max_live_allocations\": %lu, \"larger_bytes\": %lu,\n \"bins\": [",
            totals.max_live.load(relaxed), totals.larger_bytes.load(relaxed));
  for (std::uint32_t i = 0; i < size_classes; ++i)
    out.print(i == 0 ? "%lu" : ",%lu", totals.sizes.bins[i].load(relaxed));
  out.print("],\n \"groups\": [");
  for (std::size_t i = 0; i < by_group_.size(); ++i) {
    if (i > 0) out.print(",\n  ");
    print_group(out, by_group_[i]);
  }
  out.print("]}\n");
  complete = out.finish();
}

}  // namespace halo::litter
